#include "heap/front/small_blocks.hpp"

#include "heap/base/random_numbers.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/cache/sample_stops.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heap/front/checked_paths.hpp"
#include "heap/front/counting.hpp"
#include "heap/front/uncommon.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

namespace {

/// Returns: a block of a span of the class, or nullptr. Requires: the stack of the thread's cache,
/// which may be missing, has no block.
HEAPWISE_ALWAYS_INLINE void* refill_stack_of(heap_cache* cache, size_class class_index) noexcept {
  expects(class_index != no_class, "a block of a class is asked for");
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

/// Returns: the block. Effects: it is counted if the thread counts.
void* count_taken(void* block) noexcept {
  // One in a guarded page may have more bytes than its class.
  if (thread_counts_blocks() && block != nullptr) count_block(counted_bytes(block));
  return block;
}

/// Returns: as refill_stack, in a thread whose variable says "no cache yet".
HEAPWISE_NOINLINE void* refill_without_cache(size_class class_index) noexcept {
  return count_taken(refill_stack_of(take_cache(), class_index));
}

/// Returns: a block of the class, or nullptr, in a thread that counts: its stack may have blocks.
HEAPWISE_ALWAYS_INLINE void* take_counted(size_class class_index) noexcept {
  heap_cache& cache = *counting_cache;
  if (cache.tops[class_index][-1] == nullptr) return refill_without_cache(class_index);
  count_block(usable_bytes_of(class_index));
  return take_top(cache, class_index);
}

/// Returns: a block of a span of the class, or nullptr. Requires: the stack that the thread's
/// variable leads to has no block.
HEAPWISE_ALWAYS_INLINE void* refill_stack(size_class class_index) noexcept {
  expects(cache_in_use()->tops[class_index][-1] == nullptr, "a stack without a block is refilled");
  if (cache_in_use() == &no_cache) [[unlikely]]
    return thread_counts_blocks() ? take_counted(class_index) : refill_without_cache(class_index);
  return refill_stack_of(own_cache(), class_index);
}

/// Effects: as make_room, while blocks are sampled.
void make_room_between_stops(heap_cache& cache, size_class class_index) noexcept {
  lift_stops(cache, class_index);
  make_room(cache, class_index);
  if (sample_stops* const stops = stops_of(cache)) stops->draw(cache, class_index);
}

/// Effects: a block goes into the stack, which is full, while blocks are sampled.
HEAPWISE_NOINLINE void keep_between_stops(heap_cache& cache, std::byte* block,
                                          size_class class_index) noexcept {
  make_room_between_stops(cache, class_index);
  *cache.tops[class_index]++ = block;
}

/// Returns: as refill_stack, while blocks are sampled: a sampled one if it is the turn of this
/// block and `may_sample`.
HEAPWISE_NOINLINE void* take_at_stop(size_class class_index, bool may_sample) noexcept {
  heap_cache* const cache = own_cache();
  sample_stops* const stops =
      cache != nullptr && have_stack(*cache, class_index) ? stops_of(*cache) : nullptr;
  if (stops == nullptr) return refill_stack_of(cache, class_index);
  if (cache->tops[class_index][-1] == nullptr && !stops->is_on_top(*cache, class_index)) {
    if (!fill(*cache, class_index)) return allocate_uncached(class_index);
    stops->draw(*cache, class_index);
  }
  if (!stops->is_on_top(*cache, class_index)) return take_top(*cache, class_index);
  std::byte* const block = stops->take(*cache, class_index);
  void* const sampled = may_sample ? the_samples.take(block, class_index) : nullptr;
  return sampled != nullptr ? sampled : block;
}

/// Returns: whether the thread has the block already, so that it was freed before.
[[maybe_unused]] bool was_freed_last(const heap_cache& cache, const std::byte* block,
                                     size_class class_index) noexcept {
  return cache.tops[class_index][-1] == block || cache.hot[class_index] == block;
}

/// Returns: as refill_stack, or a block that takes the place of one if `may_replace` and it is the
/// turn of this one.
void* replace_or_take(size_class class_index, bool may_replace) noexcept {
  if constexpr (chosen_profile.samples_guards) {
    void* const guarded = may_replace ? the_guards.sample(class_index) : nullptr;
    if (guarded != nullptr) return guarded;
  }
  if constexpr (can_sample) {
    if (the_samples.is_on()) return take_at_stop(class_index, may_replace);
  }
  return refill_stack_of(own_cache(), class_index);
}

/// Returns: the same. Effects: it is counted if the thread counts.
HEAPWISE_NOINLINE void* replace_or_refill(size_class class_index, bool may_replace) noexcept {
  if (thread_counts_blocks() && counting_cache->tops[class_index][-1] != nullptr) {
    return take_counted(class_index); // the turn of others comes when the stack is empty
  }
  return count_taken(replace_or_take(class_index, may_replace));
}

/// Returns: as take_cache. Effects: if the thread counts, the block is one more that it has freed.
HEAPWISE_NOINLINE heap_cache* take_cache_to_free(const std::byte* block,
                                                 size_class class_index) noexcept {
  if (!thread_counts_blocks()) return take_cache();
  count_free(class_index == mixed_class ? counted_bytes(block) : usable_bytes_of(class_index));
  return counting_cache;
}

} // namespace

void* sample_or_refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if (chosen_profile.keeps_states || the_samples.some_blocks_give_way()) [[unlikely]]
    return replace_or_refill(class_index, true);
  return refill_stack(class_index);
}

void keep_sampled(std::byte* sampled) noexcept {
  expects([&] { return the_samples.holds(sampled); },
          "the address is at a place of a sampled block");
  const auto [block, class_index] = the_samples.release(sampled);
  if (block == nullptr) return;
  heap_cache* const cache = own_cache();
  const size_class home = the_facts.map.class_at(block);
  sample_stops* const stops =
      cache != nullptr && home == class_index && have_stack(*cache, class_index) ? stops_of(*cache)
                                                                                 : nullptr;
  if (stops == nullptr) return keep_slowly(block, home);
  if (thread_counts_blocks()) count_free(counted_bytes(block));
  if (cache->tops[class_index] == cache->ends[class_index])
    make_room_between_stops(*cache, class_index);
  stops->push(*cache, class_index, block);
}

void keep_slowly(std::byte* block, size_class class_index) noexcept {
  expects(block != nullptr && class_index != no_class, "a block of a class is kept");
  heap_cache* const cache = own_cache_or([=] { return take_cache_to_free(block, class_index); });
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
  if (cache->tops[class_index] == cache->ends[class_index]) {
    if constexpr (can_sample) {
      if (the_samples.some_blocks_give_way() && the_samples.is_on()) [[unlikely]]
        return keep_between_stops(*cache, block, class_index);
    }
    make_room(*cache, class_index);
  }
  push(*cache, block, class_index, chosen_profile.clears ? random_bits() : 0);
}

inline namespace layout_3 {

void* refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if constexpr (chosen_profile.keeps_states) {
    return take_for_inlined(class_index);
  } else {
    if (the_samples.is_on()) [[unlikely]]
      return replace_or_refill(class_index, false);
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
