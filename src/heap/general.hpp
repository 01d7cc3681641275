// The heap of all threads, as its callers see it: any size, any alignment.
#pragma once

#include <cstddef>

#include "heap/profile.hpp"
#include "heap/uncommon.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Returns: a block of `size_bytes` or more, or nullptr.
HEAPWISE_ALWAYS_INLINE void* allocate(std::size_t size_bytes) noexcept {
  if (size_bytes > max_small_bytes) [[unlikely]]
    return allocate_large(size_bytes, 1, false);
  return take(class_of(size_bytes));
}

/// As `allocate`. Requires: `alignment` is a power of two.
HEAPWISE_ALWAYS_INLINE void* allocate_aligned(std::size_t size_bytes,
                                              std::size_t alignment) noexcept {
  if (size_bytes > max_small_bytes || alignment > max_small_bytes) [[unlikely]] {
    return allocate_large(size_bytes, alignment, false);
  }
  return take(aligned_class_of(size_bytes, alignment));
}

HEAPWISE_ALWAYS_INLINE void deallocate(void* block) noexcept { give<chosen_profile>(block); }

} // namespace heapwise::detail
