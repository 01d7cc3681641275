// In the profile `hardened` pages without access follow each large block: what writes or reads
// beyond the pages of the block faults. Mostly they reach up to the next block, so that what writes
// or reads before the next block faults too.
#pragma once

#include <cstddef>

#include "heap/base/profile.hpp"
#include "heap/space/span.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

/// Up to this many slices more than a block needs are behind it, so that nobody can say where the
/// next block begins.
inline constexpr std::size_t most_gap_slices = chosen_profile.guards_large ? 1 : 0;

/// Returns: the bytes that a large block needs behind it.
[[nodiscard]] inline std::size_t large_guard_bytes() noexcept {
  return chosen_profile.guards_large ? os::page_bytes() : 0;
}

/// Returns: the bytes that are hidden behind a block while it is guarded: the rest of the slice
/// that the next page is in, and one slice more. More is there only if the block has room to grow.
[[nodiscard]] std::size_t hidden_bytes_behind(const span& block) noexcept;

/// Effects: hides the pages behind the block, if they are not hidden. They are not while too many
/// blocks split a mapping, or if the system refuses. Requires: `behind` of a new span says
/// `nothing`.
void hide_pages_behind(span& block) noexcept;

/// Effects: the pages behind the block are like any others again. Returns: false if the system
/// refuses, as it may where a limit of data was set meanwhile: the pages stay hidden, and their
/// slices must not be used for anything else. Requires: `bytes` are those with which they were
/// hidden, and the span has at least as many slices.
[[nodiscard]] bool show_pages_behind(span& block) noexcept;

inline void raise_guard(span& block) noexcept {
  if constexpr (chosen_profile.guards_large) hide_pages_behind(block);
}

[[nodiscard]] inline bool lower_guard(span& block) noexcept {
  if constexpr (chosen_profile.guards_large) return show_pages_behind(block);
  return true;
}

/// Effects: gives the slices of a freed block to the space, with the pages behind the block like
/// any others. If the system refuses that, they stay out of use. `clean`: as for space::give.
void give_to_space(span& freed, bool clean) noexcept;

/// Returns: whether the address is in hidden pages behind a block. Safe in a handler of a signal.
[[nodiscard]] bool is_behind_large(const void* address) noexcept;

} // namespace heapwise::detail
