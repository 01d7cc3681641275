// The fast paths of the operators new and delete. The basic operators always call the heap. The
// others, which the standard derives from them, do so as long as the program has not replaced what
// they are derived from. No instruction asks for that: `the_facts.derived` is empty then.
#pragma once

#include <cstddef>

#include "heap/base/sealed_facts.hpp"
#include "heap/front/general.hpp"

namespace heapwise::detail {

/// Returns: a block of the class if that is quick, or nullptr: then the caller has to ask again,
/// in another way.
HEAPWISE_ALWAYS_INLINE void* take_quickly(size_class class_index) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    return take_of_class(class_index);
  } else {
    return take_kept(class_index);
  }
}

/// Returns: the same for a request. `end_of_small`: sizes from here on are not for the quick way.
HEAPWISE_ALWAYS_INLINE void* allocate_quickly(std::size_t size_bytes,
                                              std::size_t end_of_small) noexcept {
  if (size_bytes >= end_of_small) [[unlikely]]
    return nullptr;
  return take_quickly(static_cast<size_class>(class_of(size_bytes + canary_bytes)));
}

/// Returns: the same for a request with an alignment.
HEAPWISE_ALWAYS_INLINE void* allocate_quickly(std::size_t size_bytes, std::size_t end_of_small,
                                              std::size_t alignment) noexcept {
  if (!is_quickly_aligned(alignment) || size_bytes >= end_of_small) [[unlikely]]
    return nullptr;
  return take_quickly(class_of_aligned(size_bytes, alignment));
}

/// Effects: gives a block back if the derived operators may do that without a detour.
/// Returns: whether they may; if not, the caller has to call the operator it is derived from.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE bool deallocate_derived(void* block) noexcept {
  if constexpr (!chosen_profile.keeps_states) {
    if (keep<chosen_profile>(*current_cache, the_facts.derived.map, block)) [[likely]]
      return true;
  }
  if (!the_facts.derived.may_call_the_heap()) [[unlikely]]
    return false;
  if constexpr (chosen_profile.keeps_states) {
    give_checked(block);
  } else {
    release_slowly(block);
  }
  return true;
}

/// The same for a block that `new` was asked for with this size and alignment.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE bool deallocate_derived(void* block, std::size_t size_bytes,
                                                             std::size_t alignment) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    if (is_plainly_of(the_facts.derived.map, block, size_bytes, alignment)) [[likely]] {
      give_checked(block);
      return true;
    }
    if (!the_facts.derived.may_call_the_heap()) return false;
    expect_new_of(block, size_bytes, alignment);
  }
  return deallocate_derived(block);
}

} // namespace heapwise::detail
