#include "heap/front/small_blocks.hpp"

#include "heap/base/random_numbers.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/front/checked_paths.hpp"
#include "heap/front/uncommon.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

namespace {

/// Returns: a block of a span of the class, or nullptr. Requires: the stack has no block.
HEAPWISE_ALWAYS_INLINE void* refill_stack(size_class class_index) noexcept {
  expects(class_index != no_class, "a block of a class is asked for");
  heap_cache* const cache = own_cache();
  const bool has_block = cache != nullptr && have_stack(*cache, class_index) &&
                         (cache->tops[class_index][-1] != nullptr || fill(*cache, class_index));
  if (!has_block) {
    if constexpr (!chosen_profile.keeps_states) return allocate_uncached(class_index);
    void* const alone = allocate_uncached(class_index);
    return alone == nullptr ? nullptr : hand_out(static_cast<std::byte*>(alone), class_index);
  }
  if constexpr (chosen_profile.keeps_states) shuffle(*cache, class_index);
  return take_top(*cache, class_index);
}

/// Returns: whether the thread has the block already, so that it was freed before.
[[maybe_unused]] bool was_freed_last(const heap_cache& cache, const std::byte* block,
                                     size_class class_index) noexcept {
  return cache.tops[class_index][-1] == block || cache.hot[class_index] == block;
}

} // namespace

void* sample_or_refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if constexpr (chosen_profile.samples_guards) {
    if (void* const sampled = the_guards.sample(class_index)) [[unlikely]]
      return sampled;
  }
  return refill_stack(class_index);
}

void keep_slowly(std::byte* block, size_class class_index) noexcept {
  expects(block != nullptr && class_index != no_class, "a block of a class is kept");
  heap_cache* const cache = own_cache();
  if constexpr (chosen_profile.quarantines) {
    if (cache != nullptr) block = hold_back(*cache, block, class_index);
    if (block == nullptr) return;
  }
  if (cache == nullptr || !have_stack(*cache, class_index)) {
    return release_uncached(block, class_index);
  }
  // Where each block has a state, that says so.
  if constexpr (chosen_profile.checks_last && !chosen_profile.keeps_states) {
    if (was_freed_last(*cache, block, class_index)) {
      return invalid_free(block, invalid::freed_before);
    }
  }
  if (cache->tops[class_index] == cache->ends[class_index]) make_room(*cache, class_index);
  push(*cache, block, class_index, chosen_profile.clears ? random_bits() : 0);
}

inline namespace layout_3 {

void* refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if constexpr (chosen_profile.keeps_states) {
    return take_for_inlined(class_index);
  } else {
    return refill_stack(class_index);
  }
}

void release_slowly(void* block) noexcept {
  if constexpr (chosen_profile.keeps_states) {
    give_checked(block);
  } else {
    if (block == nullptr) return;
    const size_class class_index = the_facts.map.class_at(block);
    if (class_index == no_class) return release_uncommon(block);
    keep_slowly(static_cast<std::byte*>(block), class_index);
  }
}

} // namespace layout_3

} // namespace heapwise::detail
