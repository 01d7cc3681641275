// The heap of all threads, as its callers see it: any size, any alignment.
#pragma once

#include <cstddef>

#include "heap/caches.hpp"
#include "heap/checked_paths.hpp"
#include "heap/profile.hpp"
#include "heap/sealed_facts.hpp"
#include "heap/tags.hpp"
#include "heap/uncommon.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Returns: a block of the class, or nullptr.
HEAPWISE_ALWAYS_INLINE void* take_small(size_class class_index) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    return take_of_class(class_index);
  } else {
    return take_or(class_index, sample_or_refill);
  }
}

/// Returns: a block of `size_bytes` or more, or nullptr.
HEAPWISE_ALWAYS_INLINE void* allocate(std::size_t size_bytes) noexcept {
  constexpr std::size_t canary = chosen_profile::canary_bytes;
  if (size_bytes > max_small_bytes - canary) [[unlikely]]
    return allocate_large(size_bytes, 1, false);
  return take_small(static_cast<size_class>(class_of(size_bytes + canary)));
}

/// Returns: a block aligned to `alignment`, whichever sizes these are; nullptr, with errno set to
/// EINVAL, when that is not a power of two.
[[nodiscard]] void* allocate_oddly_aligned(std::size_t size_bytes, std::size_t alignment) noexcept;

/// The same, quickly where both are small.
HEAPWISE_ALWAYS_INLINE void* allocate_aligned(std::size_t size_bytes,
                                              std::size_t alignment) noexcept {
  const bool power_of_two = (alignment & (alignment - 1)) == 0; // or 0, which the next test finds
  constexpr std::size_t canary = chosen_profile::canary_bytes;
  if (!power_of_two || alignment - 1 >= max_small_bytes || size_bytes > max_small_bytes - canary)
      [[unlikely]] {
    return allocate_oddly_aligned(size_bytes, alignment);
  }
  std::size_t whole = size_bytes + canary;
  // All blocks of such an alignment are multiples of it. So the search begins further on.
  if constexpr (canary > 0) whole = (whole + alignment - 1) & ~(alignment - 1);
  return take_small(static_cast<size_class>(aligned_class_of(whole, alignment)));
}

HEAPWISE_ALWAYS_INLINE void deallocate(void* block) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    give_checked(block);
  } else {
    give<chosen_profile>(block);
  }
}

/// The same for `delete`, which knows what `new` was asked for.
HEAPWISE_ALWAYS_INLINE void deallocate_new(void* block, std::size_t size_bytes,
                                           std::size_t alignment) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    constexpr std::size_t canary = chosen_profile::canary_bytes;
    // Mostly the block is of the class of that size; whether it is in use, `deallocate` asks.
    const bool is_plain =
        alignment <= granule_bytes && size_bytes <= max_small_bytes - canary &&
        the_facts.map.class_at(without_tag(block)) == class_of(size_bytes + canary);
    if (!is_plain) [[unlikely]]
      expect_new_of(block, size_bytes, alignment);
  }
  deallocate(block);
}

/// The same for `free_sized`.
HEAPWISE_ALWAYS_INLINE void deallocate_sized(void* block, std::size_t size_bytes) noexcept {
  if constexpr (chosen_profile::keeps_states) expect_size(block, size_bytes);
  deallocate(block);
}

} // namespace heapwise::detail
