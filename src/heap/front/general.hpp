// The heap of all threads, as its callers see it: any size, any alignment.
#pragma once

#include <cstddef>

#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/cache/caches.hpp"
#include "heap/checks/tags.hpp"
#include "heap/front/checked_paths.hpp"
#include "heap/front/small_blocks.hpp"
#include "heap/front/uncommon.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Returns: a block of the class, or nullptr.
HEAPWISE_ALWAYS_INLINE void* take_small(size_class class_index) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    return take_of_class(class_index);
  } else {
    return take_or(class_index, sample_or_refill);
  }
}

/// Returns: a block of `size_bytes` or more, or nullptr.
HEAPWISE_ALWAYS_INLINE void* allocate(std::size_t size_bytes) noexcept {
  if (size_bytes > max_small_bytes - canary_bytes) [[unlikely]]
    return allocate_large(size_bytes, 1, false);
  return take_small(static_cast<size_class>(class_of(size_bytes + canary_bytes)));
}

/// Returns: a block aligned to `alignment`, whichever sizes these are; nullptr, with errno set to
/// EINVAL, when that is not a power of two.
[[nodiscard]] void* allocate_oddly_aligned(std::size_t size_bytes, std::size_t alignment) noexcept;

/// Returns: whether blocks of some class have the alignment: it is a power of two, and small.
HEAPWISE_ALWAYS_INLINE bool is_quickly_aligned(std::size_t alignment) noexcept {
  const bool power_of_two = (alignment & (alignment - 1)) == 0; // or 0, which the next test finds
  return power_of_two && alignment - 1 < max_small_bytes;
}

/// Returns: the class of blocks for a request. Requires: `is_quickly_aligned`, and a small size.
HEAPWISE_ALWAYS_INLINE size_class class_of_aligned(std::size_t size_bytes,
                                                   std::size_t alignment) noexcept {
  expects(is_quickly_aligned(alignment) && size_bytes <= max_small_bytes - canary_bytes,
          "a class has blocks of this size and alignment");
  return static_cast<size_class>(aligned_class_of(size_bytes + canary_bytes, alignment));
}

/// The same as `allocate_oddly_aligned`, quickly where both are small.
HEAPWISE_ALWAYS_INLINE void* allocate_aligned(std::size_t size_bytes,
                                              std::size_t alignment) noexcept {
  if (!is_quickly_aligned(alignment)) [[unlikely]]
    return allocate_oddly_aligned(size_bytes, alignment);
  if (size_bytes > max_small_bytes - canary_bytes) [[unlikely]]
    return allocate_oddly_aligned(size_bytes, alignment);
  return take_small(class_of_aligned(size_bytes, alignment));
}

HEAPWISE_ALWAYS_INLINE void deallocate(void* block) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    give_checked(block);
  } else {
    give<chosen_profile>(block);
  }
}

/// Returns: whether the block is of the class that `new` takes for this size and alignment, as
/// nearly all are. Whether it is in use, `deallocate` asks.
HEAPWISE_ALWAYS_INLINE bool is_plainly_of(const heap_map& map, void* block, std::size_t size_bytes,
                                          std::size_t alignment) noexcept {
  return alignment <= granule_bytes && size_bytes <= max_small_bytes - canary_bytes &&
         map.class_at(without_tag(block)) == class_of(size_bytes + canary_bytes);
}

/// The same for `free_sized`.
HEAPWISE_ALWAYS_INLINE void deallocate_sized(void* block, std::size_t size_bytes) noexcept {
  if constexpr (chosen_profile.keeps_states) expect_size(block, size_bytes);
  deallocate(block);
}

} // namespace heapwise::detail
