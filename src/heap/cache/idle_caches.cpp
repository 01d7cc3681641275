#include "heap/cache/idle_caches.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>
#include <ranges>
#include <span>
#include <utility>

#include "heap/base/linked.hpp"
#include "heap/base/metadata.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/quarantine.hpp"
#include "heap/cache/sample_stops.hpp"
#include "heap/cache/spare_batch.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heap/central/bins.hpp"
#include "heap/checks/sampled_blocks.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// More than these are emptied when their thread ends, not later: of all shards together, unless
/// there are more shards.
constexpr std::size_t most_filled = 8;

/// More than these are given back to the system.
constexpr std::size_t most_emptied = 64;

/// Returns: how many of `most` each shard may have.
std::size_t share_of(std::size_t most) noexcept {
  return std::max<std::size_t>(1, most / possible_shards());
}

/// A cache with what was in it when its thread ended.
struct filled_cache {
  thread_cache* cache = nullptr;
  std::size_t bytes = 0; // of its free blocks
};

/// Caches of the threads of a shard, and those whose threads have ended, ready for new threads.
/// While the lock is held, nobody asks the system for memory. Only the clock looks through a cache
/// then, through the spare batches of one: without the lock, the cache may end with its thread.
struct alignas(cache_line_bytes) idle_caches {
  heap_mutex<shared::idle_caches> lock;
  std::atomic<bool> has_idle{false}; // whether any has no thread; written under the lock
  std::size_t in_use = 0;
  linked_list<thread_cache> with_thread;
  thread_cache* next_to_look_at = nullptr; // for old batches; of those with a thread
  std::size_t filled_count = 0;
  std::size_t emptied_count = 0;
  thread_cache* emptied = nullptr;
  std::atomic<std::size_t> bytes{0}; // of the filled ones; written under the lock
  std::array<filled_cache, most_filled> filled;
};
constinit std::array<idle_caches, most_shards> all_idle;

/// Those of the shards that there may be: threads that begin join these.
std::span<idle_caches> idle_of_shards() noexcept {
  return std::span{all_idle}.first(possible_shards());
}

std::size_t pages_of_a_cache() noexcept {
  const std::size_t page = os::page_bytes();
  return (sizeof(thread_cache) + page - 1) / page * page;
}

/// Returns: a cache that was never used, or nullptr.
thread_cache* make_cache() noexcept {
  void* const memory = map_metadata(pages_of_a_cache(), os::page_bytes());
  if (memory == nullptr) return nullptr;
  auto* const new_cache = new (memory) thread_cache{cache_without_stacks()};
  new_cache->map = the_facts.map;
  return new_cache;
}

/// Requires: the lock.
void count_idle(idle_caches& idle, std::size_t more) noexcept {
  expects_held(idle.lock);
  idle.bytes.store(idle.bytes.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Effects: says whether a cache has no thread. Requires: the lock.
void note_idle(idle_caches& idle) noexcept {
  expects_held(idle.lock);
  // Relaxed: a thread that reads an older value makes a cache of its own, or looks in vain.
  idle.has_idle.store(idle.filled_count + idle.emptied_count != 0, std::memory_order_relaxed);
}

/// Returns: a cache with blocks that was idle, or nullptr. Requires: the lock.
thread_cache* pop_filled(idle_caches& idle) noexcept {
  expects_held(idle.lock);
  if (idle.filled_count == 0) return nullptr;
  const filled_cache last = idle.filled[--idle.filled_count];
  count_idle(idle, std::size_t{0} - last.bytes);
  note_idle(idle);
  return last.cache;
}

/// Returns: a cache that was idle, or nullptr. Requires: the lock.
thread_cache* pop_idle(idle_caches& idle) noexcept {
  expects_held(idle.lock);
  if (thread_cache* const filled = pop_filled(idle)) return filled;
  if (idle.emptied_count == 0) return nullptr;
  --idle.emptied_count;
  note_idle(idle);
  return std::exchange(idle.emptied, idle.emptied->next);
}

/// Returns: a cache that was idle in any shard, or nullptr.
thread_cache* pop_idle_of_all() noexcept {
  for (idle_caches& each : idle_of_shards()) {
    if (!each.has_idle.load(std::memory_order_relaxed)) continue;
    const std::lock_guard hold{each.lock};
    if (thread_cache* const cache = pop_idle(each)) return cache;
  }
  return nullptr;
}

/// Effects: the cache has a thread, of this shard. Requires: the lock.
void join_threads(idle_caches& idle, thread_cache& cache) noexcept {
  expects_held(idle.lock);
  ++idle.in_use;
  idle.with_thread.push(cache);
}

/// Effects: the cache has no thread any more. Requires: the lock.
void leave_threads(idle_caches& idle, thread_cache& cache) noexcept {
  expects_held(idle.lock);
  --idle.in_use;
  if (idle.next_to_look_at == &cache) idle.next_to_look_at = cache.next;
  idle.with_thread.remove(cache);
}

/// The old spare batches of a cache, by class.
using old_spares = std::array<spare_batch::content, mixed_class>;

/// Effects: takes those of the next cache that was not looked at. Returns: whether there was one.
bool take_old_spares(idle_caches& idle, old_spares& into, unsigned looks) noexcept {
  const std::lock_guard hold{idle.lock};
  thread_cache* const next = idle.next_to_look_at;
  if (next == nullptr) return false;
  idle.next_to_look_at = next->next;
  for (size_class each = 1; each <= class_count; ++each) {
    into[each] = next->spares[each].take_if_old(looks);
  }
  return true;
}

/// Returns: the shard of a thread that begins, which is in use then.
std::uint8_t take_shard() noexcept {
  const std::uint8_t shard = join_shard();
  if (shard >= shard_count()) {
    const std::lock_guard hold{all_idle.front().lock}; // guards the number of shards in use, too
    use_shards(std::size_t{shard} + 1);
  }
  return shard;
}

/// Returns: whether there was room for another one.
bool keep_emptied(idle_caches& idle, thread_cache& cache) noexcept {
  const std::size_t most = share_of(most_emptied);
  const std::lock_guard hold{idle.lock};
  if (idle.emptied_count >= most) return false;
  cache.next = std::exchange(idle.emptied, &cache);
  ++idle.emptied_count;
  note_idle(idle);
  return true;
}

void retire_emptied(idle_caches& idle, thread_cache& cache) noexcept {
  if (keep_emptied(idle, cache)) return;
  if constexpr (chosen_profile.quarantines) drop_quarantine(cache);
  unmap_metadata(&cache, pages_of_a_cache(), os::page_bytes());
}

/// Effects: the cache of a thread that ends is there for another one. Returns: whether there was
/// room for it.
bool keep_filled(idle_caches& idle, thread_cache& cache) noexcept {
  const std::size_t bytes = cached_bytes(cache);
  const std::size_t most = share_of(most_filled);
  const std::lock_guard hold{idle.lock};
  leave_threads(idle, cache);
  if (idle.filled_count >= most) return false;
  idle.filled[idle.filled_count++] = {.cache = &cache, .bytes = bytes};
  count_idle(idle, bytes);
  note_idle(idle);
  return true;
}

} // namespace

heap_cache* adopt_cache() noexcept {
  const std::uint8_t shard = take_shard();
  idle_caches& idle = all_idle[shard];
  thread_cache* cache = nullptr;
  {
    const std::lock_guard hold{idle.lock};
    cache = pop_idle(idle);
    if (cache != nullptr) join_threads(idle, *cache);
  }
  if (cache == nullptr) {
    cache = pop_idle_of_all();
    if (cache == nullptr) cache = make_cache(); // without a lock: the system may take its time
    if (cache == nullptr) {
      leave_shard(shard);
      return nullptr;
    }
    const std::lock_guard hold{idle.lock};
    join_threads(idle, *cache);
  }
  cache->shard = shard;
  return cache;
}

void pass_on_cache(heap_cache& abandoned) noexcept {
  auto& cache = static_cast<thread_cache&>(abandoned);
  idle_caches& idle = all_idle[cache.shard];
  leave_shard(cache.shard);
  if constexpr (can_sample) end_stops(cache);
  if (keep_filled(idle, cache)) return;
  pass_on_whole(cache);
  empty(cache);
  retire_emptied(idle, cache);
}

namespace {

/// Effects: as empty_idle_caches, of one shard.
void empty_all_of(idle_caches& idle) noexcept {
  // One at a time, without the lock: a thread that begins or ends does not wait for it.
  for (std::size_t left = most_filled; left > 0; --left) {
    thread_cache* filled = nullptr;
    {
      const std::lock_guard hold{idle.lock};
      filled = pop_filled(idle);
    }
    if (filled == nullptr) return;
    empty(*filled);
    retire_emptied(idle, *filled);
  }
}

} // namespace

void empty_idle_caches() noexcept {
  for (idle_caches& each : idle_of_shards()) {
    if (each.has_idle.load(std::memory_order_relaxed)) empty_all_of(each);
  }
}

void release_old_spares(unsigned looks) noexcept {
  for (idle_caches& idle : idle_of_shards()) {
    {
      const std::lock_guard hold{idle.lock};
      idle.next_to_look_at = idle.with_thread.first();
    }
    // One cache at a time: a thread that begins or ends does not wait for more.
    for (old_spares spares; take_old_spares(idle, spares, looks);) {
      for (size_class each = 1; each <= class_count; ++each) release_spare(spares[each], each);
      os::let_fork();
    }
  }
}

std::size_t thread_count() noexcept {
  std::size_t count = 0;
  for (idle_caches& each : idle_of_shards()) {
    const std::lock_guard hold{each.lock};
    count += each.in_use;
  }
  return count;
}

std::size_t idle_cache_count() noexcept {
  std::size_t count = 0;
  for (idle_caches& each : idle_of_shards()) {
    const std::lock_guard hold{each.lock};
    count += each.filled_count + each.emptied_count;
  }
  return count;
}

std::size_t idle_cached_bytes() noexcept {
  std::size_t bytes = 0;
  for (const idle_caches& each : idle_of_shards()) {
    bytes += each.bytes.load(std::memory_order_relaxed);
  }
  return bytes;
}

void count_only_thread(heap_cache* own) noexcept {
  forget_threads_of_shards();
  // The caches of threads that are not there: nobody knows what they were doing to them.
  forget_room_in_caches();
  for (idle_caches& each : idle_of_shards()) {
    const std::lock_guard hold{each.lock};
    each.in_use = 0;
    for (const filled_cache& filled : std::span{each.filled}.first(each.filled_count)) {
      count_room_again(*filled.cache);
    }
  }
  if (own == nullptr) return;
  count_room_again(*own);
  const std::uint8_t shard = static_cast<thread_cache*>(own)->shard;
  join_shard_again(shard);
  const std::lock_guard hold{all_idle[shard].lock};
  all_idle[shard].in_use = 1;
}

void lock_caches() noexcept {
  for (idle_caches& each : idle_of_shards()) each.lock.lock();
}

void unlock_caches() noexcept {
  for (idle_caches& each : std::views::reverse(idle_of_shards())) each.lock.unlock();
}

} // namespace heapwise::detail
