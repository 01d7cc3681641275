#include "heap/cache/caches.hpp"

#include <atomic>

#include "heap/base/invalid.hpp"
#include "heap/base/no_memory.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/shards.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heap/central/bins.hpp"
#include "heap/checks/guarded_pages.hpp"
#include "heap/front/checked_paths.hpp"
#include "heap/front/start.hpp"
#include "heap/front/uncommon.hpp"
#include "heap/purge/last_resort.hpp"
#include "heap/purge/purge_clock.hpp"
#include "heap/space/space.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit const heap_cache no_cache = cache_without_stacks();

namespace {

/// Stands for "no cache ever again".
constinit const heap_cache no_later_cache = cache_without_stacks();

/// The shard of a thread without a cache.
constexpr std::size_t without_cache = 0;

/// Without it, caches of threads that end are lost.
constinit std::atomic<bool> ends_are_told{false};

/// The cache of a thread that ends is there for the next one.
void abandon(void* abandoned) {
  forgo_cache();
  pass_on_cache(*static_cast<heap_cache*>(abandoned));
  notice_free_memory();
}

} // namespace

inline namespace layout_3 {
__thread heap_cache* current_cache = stand_in(no_cache);
} // namespace layout_3

void watch_thread_exits() noexcept {
  // Relaxed: the second of two threads need not wait. What it allocates before the first one is
  // done is not passed on at its end.
  static constinit std::atomic<bool> asked{false};
  if (asked.exchange(true, std::memory_order_relaxed)) return;
  // Release: pairs with take_cache, for the key.
  if (os::set_thread_exit(abandon)) ends_are_told.store(true, std::memory_order_release);
}

void use_no_cache() noexcept {
  current_cache = stand_in(no_cache);
  if constexpr (chosen_profile::keeps_states) hidden_cache = stand_in(no_cache);
}

void forgo_cache() noexcept { cache_in_use() = stand_in(no_later_cache); }

namespace {

/// Returns: a cache for a thread that has none yet, or nullptr.
HEAPWISE_NOINLINE heap_cache* take_cache() noexcept {
  if (!start_heap()) return nullptr;
  heap_cache* const adopted = adopt_cache();
  if (adopted == nullptr) return nullptr;
  cache_in_use() = adopted; // first: arranging the end of the thread allocates
  if (ends_are_told.load(std::memory_order_acquire)) os::at_thread_exit(adopted);
  return adopted;
}

} // namespace

heap_cache* own_cache() noexcept {
  heap_cache* const cache = cache_in_use();
  if (cache == &no_later_cache) return nullptr;
  return cache != &no_cache ? cache : take_cache();
}

void empty_own_cache() noexcept {
  heap_cache* const cache = cache_in_use();
  // Those that stand for none belong to all threads, and nobody may write to them.
  if (cache != &no_cache && cache != &no_later_cache) empty(*cache);
}

std::size_t own_cached_bytes() noexcept {
  heap_cache* const cache = cache_in_use();
  return cache == &no_cache || cache == &no_later_cache ? 0 : cached_bytes(*cache);
}

std::size_t own_shard() noexcept {
  if (possible_shards() == 1) return without_cache;
  const heap_cache* const cache = own_cache();
  return cache == nullptr ? without_cache : static_cast<const thread_cache*>(cache)->shard;
}

HEAPWISE_NOINLINE void* allocate_uncached(size_class class_index) noexcept {
  if (!start_heap()) return no_memory();
  void* block = take_one_block(without_cache, class_index);
  if (block == nullptr) {
    free_what_waits();
    block = take_one_block(without_cache, class_index);
  }
  return block != nullptr ? block : no_memory();
}

void release_uncached(void* block, size_class class_index) noexcept {
  std::byte* const one = static_cast<std::byte*>(block);
  put_back(&one, 1, class_index);
}

namespace {

/// Returns: a block of a span of the class, or nullptr. Requires: the stack has no block.
HEAPWISE_ALWAYS_INLINE void* refill_stack(size_class class_index) noexcept {
  heap_cache* const cache = own_cache();
  if (cache == nullptr || !have_stack(*cache, class_index)) return allocate_uncached(class_index);
  if (cache->tops[class_index][-1] == nullptr && !fill(*cache, class_index))
    return allocate_uncached(class_index);
  return take(class_index);
}

} // namespace

void* sample_or_refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if constexpr (chosen_profile::samples_guards) {
    if (void* const sampled = the_guards.sample(class_index)) [[unlikely]]
      return sampled;
  }
  return refill_stack(class_index);
}

inline namespace layout_3 {

void* refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if constexpr (chosen_profile::keeps_states) {
    return take_for_inlined(class_index);
  } else {
    return refill_stack(class_index);
  }
}

void release_slowly(void* block) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    give_checked(block);
  } else {
    if (block == nullptr) return;
    const size_class class_index = the_facts.map.class_at(block);
    if (class_index == no_class) {
      release_uncommon(block);
      return;
    }
    heap_cache* const cache = own_cache();
    if (cache == nullptr || !have_stack(*cache, class_index)) {
      release_uncached(block, class_index);
      return;
    }
    if (chosen_profile::checks_last &&
        (cache->tops[class_index][-1] == block || cache->hot[class_index] == block)) {
      invalid_free(block, invalid::freed_before);
      return;
    }
    if (cache->tops[class_index] == cache->ends[class_index]) make_room(*cache, class_index);
    *cache->tops[class_index]++ = static_cast<std::byte*>(block);
  }
}

} // namespace layout_3

} // namespace heapwise::detail
