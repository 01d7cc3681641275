// The call that allocated each block, and the call that freed it: the addresses to which these
// calls of the library return. An option of the profiles that check every call; the sites lie far
// from the blocks, so that no overrun of a block reaches those of its neighbour.
#pragma once

#include <atomic>

#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heapwise/detail/config.hpp"

namespace heapwise::detail {

/// nullptr: not known, or the block was not freed.
struct block_sites {
  std::atomic<const void*> allocated{nullptr};
  std::atomic<const void*> freed{nullptr};
};

/// Effects: keeps the sites from now on if the option asks for it, and says in one line if it
/// cannot. Requires: no other thread is in the heap yet; the facts are not sealed.
void start_call_sites() noexcept;

/// Returns: the sites of the block that begins at the address, or of the last one that began there;
/// nullptr if none are kept. Safe in a handler of a signal.
[[nodiscard]] const block_sites* sites_of(const void* address) noexcept;

/// Effects: as note_allocated and note_freed, if the option is set. They exist in the profiles that
/// have the option only.
HEAPWISE_NOINLINE void keep_allocated(const void* block) noexcept;
HEAPWISE_NOINLINE void keep_freed(const void* block) noexcept;

/// Effects: the call that the library is in has allocated the block. Nothing, unless the option is
/// set. Thread safety: the block is this thread's.
HEAPWISE_ALWAYS_INLINE void note_allocated(const void* block) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    if (the_facts.sites != nullptr) [[unlikely]]
      keep_allocated(block);
  }
}

/// Effects: the same for the call that frees it. Requires: no other thread can get the block yet.
HEAPWISE_ALWAYS_INLINE void note_freed(const void* block) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    if (the_facts.sites != nullptr) [[unlikely]]
      keep_freed(block);
  }
}

} // namespace heapwise::detail
