#include "heap/cache/caches.hpp"

#include <atomic>

#include "heap/base/no_memory.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heap/central/bins.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

constinit const heap_cache no_cache = cache_without_stacks();

constinit const heap_cache no_later_cache = cache_without_stacks();

namespace {

/// The shard of a thread without a cache.
constexpr std::size_t without_cache = 0;

/// Without it, caches of threads that end are lost.
constinit std::atomic<bool> ends_are_told{false};

/// The cache of a thread that ends is there for the next one.
void abandon(void* abandoned) {
  forgo_cache();
  counting_cache = nullptr;
  pass_on_cache(*static_cast<heap_cache*>(abandoned));
  notice_free_memory();
}

/// Returns: the cache that the calling thread has, or nullptr. Those that stand for none belong to
/// all threads, and nobody may write to them.
heap_cache* kept_cache() noexcept {
  heap_cache* const cache = cache_in_use();
  if (cache == &no_cache && thread_counts_blocks()) return counting_cache;
  return cache == &no_cache || cache == &no_later_cache ? nullptr : cache;
}

} // namespace

inline namespace layout_3 {
__thread heap_cache* current_cache = stand_in(no_cache);
} // namespace layout_3

__thread heap_cache* counting_cache = nullptr;

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
  if constexpr (chosen_profile.keeps_states) hidden_cache = stand_in(no_cache);
}

void forgo_cache() noexcept { cache_in_use() = stand_in(no_later_cache); }

heap_cache* take_cache() noexcept {
  expects(cache_in_use() == &no_cache, "a thread takes one cache");
  if (thread_counts_blocks()) return counting_cache;
  if (!start_heap()) return nullptr;
  heap_cache* const adopted = adopt_cache();
  if (adopted == nullptr) return nullptr;
  cache_in_use() = adopted; // first: arranging the end of the thread allocates
  // Acquire: pairs with the release in watch_thread_exits. The key of threads was written before.
  if (ends_are_told.load(std::memory_order_acquire)) os::at_thread_exit(adopted);
  return adopted;
}

void forget_threads_of_parent() noexcept { count_only_thread(kept_cache()); }

void empty_own_cache() noexcept {
  if (heap_cache* const cache = kept_cache()) empty(*cache);
}

std::size_t own_cached_bytes() noexcept {
  heap_cache* const cache = kept_cache();
  return cache == nullptr ? 0 : cached_bytes(*cache);
}

bool begin_counting() noexcept {
  if (thread_counts_blocks()) return true;
  heap_cache* const cache = own_cache();
  if (cache == nullptr) return false;
  counting_cache = cache;
  cache_in_use() = stand_in(no_cache);
  return true;
}

std::size_t own_shard() noexcept {
  if (possible_shards() == 1) return without_cache;
  const heap_cache* const cache = own_cache();
  return cache == nullptr ? without_cache : static_cast<const thread_cache*>(cache)->shard;
}

namespace {

/// Returns: a block of the class that is free in a shard, or nullptr.
void* take_from_any_shard(size_class class_index) noexcept {
  void* block = nullptr;
  for (std::size_t shard = without_cache; block == nullptr && shard < shard_count(); ++shard) {
    block = take_one_block(shard, class_index);
  }
  return block;
}

} // namespace

void* allocate_uncached(size_class class_index) noexcept {
  if (!start_heap()) return no_memory();
  void* block = take_from_any_shard(class_index);
  if (block == nullptr) {
    free_what_waits();
    block = take_from_any_shard(class_index);
  }
  return block != nullptr ? block : no_memory();
}

void release_uncached(void* block, size_class class_index) noexcept {
  std::byte* const one = static_cast<std::byte*>(block);
  put_back(&one, 1, class_index);
}

} // namespace heapwise::detail
