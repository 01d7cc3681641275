// How a thread gets a small block where its stack has none, and gives one back where its stack is
// full: the slow ends of the paths that are inlined, in every profile.
#pragma once

#include <cstddef>

#include "heap/base/profile.hpp"
#include "heap/checks/block_states.hpp"
#include "heap/space/space.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Effects: what the next `hand_out` of the block looks at comes into the processor's cache. Blocks
/// come up in random order, so the processor itself does not foresee it. nullptr: nothing.
HEAPWISE_ALWAYS_INLINE void prefetch_next(const std::byte* next) noexcept {
  if (next == nullptr) return;
  HEAPWISE_PREFETCH_TO_WRITE(&the_space.granule_class(next));
  HEAPWISE_PREFETCH_TO_WRITE(next);
}

/// Effects: a free block gets a user. Returns: its address for the user. Requires: a free block of
/// the class that nobody else can get.
HEAPWISE_ALWAYS_INLINE void* hand_out(std::byte* block, size_class class_index) noexcept {
  expects(block != nullptr && class_index != no_class, "a block of a class is handed out");
  if constexpr (chosen_profile.keeps_states) return block_states::use(block, class_index);
  return block;
}

/// Returns: the block on top of the stack, handed out. Requires: the stack has a block.
HEAPWISE_ALWAYS_INLINE void* take_top(heap_cache& cache, size_class class_index) noexcept {
  expects([&] { return cache.tops[class_index][-1] != nullptr; }, "the stack has a block");
  std::byte** const top = --cache.tops[class_index];
  if constexpr (chosen_profile.clears) prefetch_next(top[-1]);
  return hand_out(*top, class_index);
}

/// Returns: as `refill`, or a block in a guarded page if it is the turn of this one. For callers
/// whose blocks come back by a path that looks at the address: those that programs have inlined do
/// not. Requires: the thread's stack of the class has no block.
[[nodiscard]] void* sample_or_refill(std::size_t class_index) noexcept;

/// Effects: a block that nobody uses any more is held back, or goes into the thread's stack, which
/// is made or emptied if need be; or to its span. Requires: a free block of the class.
void keep_slowly(std::byte* block, size_class class_index) noexcept;

/// Effects: a sampled block that nobody uses any more is gone, and the block for which it stood
/// goes into the thread's stack. An address that is not such a block is reported. Requires:
/// the_samples.holds(sampled).
void keep_sampled(std::byte* sampled) noexcept;

} // namespace heapwise::detail
