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

/// Returns: a block aligned to `alignment`, whichever sizes these are; nullptr, with errno set to
/// EINVAL, when that is not a power of two.
[[nodiscard]] void* allocate_oddly_aligned(std::size_t size_bytes, std::size_t alignment) noexcept;

/// The same, quickly where both are small.
HEAPWISE_ALWAYS_INLINE void* allocate_aligned(std::size_t size_bytes,
                                              std::size_t alignment) noexcept {
  const bool power_of_two = (alignment & (alignment - 1)) == 0; // or 0, which the next test finds
  if (!power_of_two || alignment - 1 >= max_small_bytes || size_bytes > max_small_bytes)
      [[unlikely]] {
    return allocate_oddly_aligned(size_bytes, alignment);
  }
  return take(aligned_class_of(size_bytes, alignment));
}

HEAPWISE_ALWAYS_INLINE void deallocate(void* block) noexcept { give<chosen_profile>(block); }

} // namespace heapwise::detail
