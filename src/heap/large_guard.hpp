// In the profile `hardened` a page without access follows each large block: what writes or reads
// beyond the pages of the block faults.
#pragma once

#include <cstddef>

#include "heap/profile.hpp"
#include "heap/span.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

/// Returns: the bytes that a large block needs behind it.
[[nodiscard]] inline std::size_t large_guard_bytes() noexcept {
  return chosen_profile::guards_large ? os::page_bytes() : 0;
}

/// Effects: hides the page behind the block, if it is not hidden. It is not while too many blocks
/// split a mapping, or if the system refuses. Requires: `behind` of a new span says `nothing`.
void hide_page_behind(span& block) noexcept;

/// Effects: the page behind the block is like any other again. Returns: false if the system
/// refuses, as it may where a limit of data was set meanwhile: the page stays hidden, and its
/// slices must not be used for anything else. Requires: `bytes` are those with which it was hidden.
[[nodiscard]] bool show_page_behind(span& block) noexcept;

inline void raise_guard(span& block) noexcept {
  if constexpr (chosen_profile::guards_large) hide_page_behind(block);
}

[[nodiscard]] inline bool lower_guard(span& block) noexcept {
  if constexpr (chosen_profile::guards_large) return show_page_behind(block);
  return true;
}

/// Effects: gives the slices of a freed block to the space, with the page behind the block like any
/// other. If the system refuses that, they stay out of use. `clean`: as for space::give.
void give_to_space(span& freed, bool clean) noexcept;

/// Returns: whether the address is in the guard page of a block. Safe in a handler of a signal.
[[nodiscard]] bool is_behind_large(const void* address) noexcept;

} // namespace heapwise::detail
