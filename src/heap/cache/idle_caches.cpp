#include "heap/cache/idle_caches.hpp"

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "heap/base/expects.hpp"
#include "heap/base/metadata.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/central/bins.hpp"
#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// More than these are emptied when their thread ends, not later.
constexpr std::size_t most_filled = 8;

/// More than these are given back to the system.
constexpr std::size_t most_emptied = 64;

/// A cache with what was in it when its thread ended.
struct filled_cache {
  heap_cache* cache = nullptr;
  std::size_t bytes = 0; // of its free blocks
};

/// Caches whose threads have ended, ready for new threads. While the lock is held, nobody asks the
/// system for memory or looks through a cache, which another processor may have written.
struct alignas(cache_line_bytes) idle_caches {
  heap_mutex<shared::idle_caches> lock;
  std::size_t in_use = 0;
  std::size_t filled_count = 0;
  std::size_t emptied_count = 0;
  heap_cache* emptied = nullptr;
  std::atomic<std::size_t> bytes{0}; // of the filled ones; written under the lock
  std::array<filled_cache, most_filled> filled;
};
constinit idle_caches idle;

std::size_t pages_of_a_cache() noexcept {
  const std::size_t page = os::page_bytes();
  return (sizeof(thread_cache) + page - 1) / page * page;
}

/// Returns: a cache that was never used, or nullptr.
heap_cache* make_cache() noexcept {
  void* const memory = map_metadata(pages_of_a_cache(), os::page_bytes());
  if (memory == nullptr) return nullptr;
  auto* const new_cache = new (memory) thread_cache{cache_without_stacks(), {}, {}, nullptr, 0};
  new_cache->map = the_facts.map;
  return new_cache;
}

/// Requires: the lock.
void count_idle(std::size_t more) noexcept {
  expects_held(idle.lock);
  idle.bytes.store(idle.bytes.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Returns: a cache with blocks that was idle, or nullptr. Requires: the lock.
heap_cache* pop_filled() noexcept {
  expects_held(idle.lock);
  if (idle.filled_count == 0) return nullptr;
  const filled_cache last = idle.filled[--idle.filled_count];
  count_idle(std::size_t{0} - last.bytes);
  return last.cache;
}

/// Returns: a cache that was idle, or nullptr. Requires: the lock.
heap_cache* pop_idle() noexcept {
  expects_held(idle.lock);
  if (heap_cache* const filled = pop_filled()) return filled;
  if (idle.emptied_count == 0) return nullptr;
  --idle.emptied_count;
  return std::exchange(idle.emptied, idle.emptied->next);
}

/// Returns: the shard of a thread that begins, which is in use then.
std::uint8_t take_shard() noexcept {
  const std::uint8_t shard = join_shard();
  if (shard >= shard_count()) {
    const std::lock_guard hold{idle.lock};
    use_shards(std::size_t{shard} + 1);
  }
  return shard;
}

/// Returns: whether there was room for another one.
bool keep_emptied(heap_cache& cache) noexcept {
  const std::lock_guard hold{idle.lock};
  if (idle.emptied_count == most_emptied) return false;
  cache.next = std::exchange(idle.emptied, &cache);
  ++idle.emptied_count;
  return true;
}

void retire_emptied(heap_cache& cache) noexcept {
  if (keep_emptied(cache)) return;
  if constexpr (chosen_profile.quarantines) drop_quarantine(cache);
  unmap_metadata(&cache, pages_of_a_cache(), os::page_bytes());
}

/// Effects: the cache of a thread that ends is there for another one. Returns: whether there was
/// room for it.
bool keep_filled(heap_cache& cache) noexcept {
  const std::size_t bytes = cached_bytes(cache);
  const std::lock_guard hold{idle.lock};
  --idle.in_use;
  if (idle.filled_count == most_filled) return false;
  idle.filled[idle.filled_count++] = {.cache = &cache, .bytes = bytes};
  count_idle(bytes);
  return true;
}

} // namespace

heap_cache* adopt_cache() noexcept {
  heap_cache* cache = nullptr;
  {
    const std::lock_guard hold{idle.lock};
    cache = pop_idle();
    if (cache != nullptr) ++idle.in_use;
  }
  if (cache == nullptr) {
    cache = make_cache(); // without the lock: the system may take its time
    if (cache == nullptr) return nullptr;
    const std::lock_guard hold{idle.lock};
    ++idle.in_use;
  }
  static_cast<thread_cache*>(cache)->shard = take_shard();
  return cache;
}

void pass_on_cache(heap_cache& cache) noexcept {
  leave_shard(static_cast<thread_cache&>(cache).shard);
  if (keep_filled(cache)) return;
  pass_on_whole(cache);
  empty(cache);
  retire_emptied(cache);
}

void empty_idle_caches() noexcept {
  // One at a time, without the lock: a thread that begins or ends does not wait for it.
  for (std::size_t left = most_filled; left > 0; --left) {
    heap_cache* filled = nullptr;
    {
      const std::lock_guard hold{idle.lock};
      filled = pop_filled();
    }
    if (filled == nullptr) return;
    empty(*filled);
    retire_emptied(*filled);
  }
}

std::size_t thread_count() noexcept {
  const std::lock_guard hold{idle.lock};
  return idle.in_use;
}

std::size_t idle_cache_count() noexcept {
  const std::lock_guard hold{idle.lock};
  return idle.filled_count + idle.emptied_count;
}

std::size_t idle_cached_bytes() noexcept { return idle.bytes.load(std::memory_order_relaxed); }

void lock_caches() noexcept { idle.lock.lock(); }
void unlock_caches() noexcept { idle.lock.unlock(); }

} // namespace heapwise::detail
