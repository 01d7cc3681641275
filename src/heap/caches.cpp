#include "heap/caches.hpp"

#include <mutex>
#include <new>

#include "heap/bin.hpp"
#include "heap/clock.hpp"
#include "heap/invalid.hpp"
#include "heap/no_memory.hpp"
#include "heap/profile.hpp"
#include "heap/start.hpp"
#include "heap/uncommon.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// Stands for "no cache": its bins are empty and have no room.
constinit heap_cache no_cache;

__thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

/// Caches whose threads have ended, ready for new threads with what is in them.
struct idle_caches {
  std::mutex lock;
  heap_cache* first = nullptr;
  std::size_t count = 0;
  std::size_t in_use = 0;
  std::byte* fresh = nullptr; // memory for more
  std::byte* fresh_end = nullptr;
};
constinit idle_caches idle;

/// Without it, caches of threads that end are lost.
constinit bool ends_are_told = false;

constexpr std::size_t piece_bytes = std::size_t{64} << 10;

/// More than these are emptied when their thread ends, not later.
constexpr std::size_t most_filled = 8;

void release_uncached(void* block, size_class of) noexcept {
  set_link(block, nullptr);
  the_bins[of].put_back(static_cast<std::byte*>(block), of);
}

void empty(heap_cache& cache) noexcept {
  for (size_class of = 1; of <= class_count; ++of) {
    cache_bin& bin = cache.bins[of];
    if (cache.hot[of] != nullptr) release_uncached(cache.hot[of], of);
    if (bin.head != nullptr) the_bins[of].put_back(bin.head, of);
    if (cache.spares[of] != nullptr) the_bins[of].put_back(cache.spares[of], of);
    the_bins[of].put_back(cache.runs[of], of);
    bin.head = nullptr;
    bin.room = class_table[of].batch;
    cache.hot[of] = nullptr;
    cache.spares[of] = nullptr;
    cache.runs[of] = {};
  }
}

/// Requires: the lock. Returns: a cache that was never used, or nullptr.
heap_cache* make_cache() noexcept {
  if (static_cast<std::size_t>(idle.fresh_end - idle.fresh) < sizeof(heap_cache)) {
    void* const piece = os::map(piece_bytes, alignof(heap_cache));
    if (piece == nullptr) return nullptr;
    idle.fresh = static_cast<std::byte*>(piece);
    idle.fresh_end = idle.fresh + piece_bytes;
  }
  auto* const made = new (idle.fresh) heap_cache{};
  idle.fresh += sizeof(heap_cache);
  made->map = the_heap_map;
  made->key = the_link_key;
  for (size_class of = 1; of <= class_count; ++of) {
    made->bins[of].room = class_table[of].batch;
    made->bins[of].block_bytes = class_table[of].bytes;
  }
  return made;
}

heap_cache* adopt_cache() noexcept {
  const std::lock_guard hold{idle.lock};
  heap_cache* taken = idle.first;
  if (taken != nullptr) {
    idle.first = taken->next;
    --idle.count;
  } else {
    taken = make_cache();
  }
  if (taken != nullptr) ++idle.in_use;
  return taken;
}

/// The cache of a thread that ends is there for the next one.
void abandon(void* abandoned) {
  auto* const cache = static_cast<heap_cache*>(abandoned);
  current_cache = &no_cache;
  thread_has_ended = true;
  bool crowded = false;
  {
    const std::lock_guard hold{idle.lock};
    crowded = idle.count >= most_filled;
  }
  if (crowded) empty(*cache);
  const std::lock_guard hold{idle.lock};
  cache->next = idle.first;
  idle.first = cache;
  ++idle.count;
  --idle.in_use;
}

} // namespace

__thread heap_cache* current_cache = &no_cache;

void watch_thread_exits() noexcept { ends_are_told = os::set_thread_exit(abandon); }

void use_no_cache() noexcept { current_cache = &no_cache; }

heap_cache* own_cache() noexcept {
  heap_cache* const cache = current_cache;
  if (cache != &no_cache) return cache;
  if (thread_has_ended || !start_heap()) return nullptr;
  heap_cache* const adopted = adopt_cache();
  if (adopted == nullptr) return nullptr;
  current_cache = adopted; // first: arranging the end of the thread allocates
  if (ends_are_told) os::at_thread_exit(adopted);
  return adopted;
}

void empty_own_cache() noexcept {
  if (current_cache != &no_cache) empty(*current_cache);
}

void empty_idle_caches() noexcept {
  const std::lock_guard hold{idle.lock};
  for (heap_cache* each = idle.first; each != nullptr; each = each->next) empty(*each);
}

std::size_t thread_count() noexcept {
  const std::lock_guard hold{idle.lock};
  return idle.in_use;
}

std::size_t own_cached_bytes() noexcept {
  const heap_cache& cache = *current_cache;
  std::size_t bytes = 0;
  for (size_class of = 1; of <= class_count && &cache != &no_cache; ++of) {
    const class_facts& facts = class_table[of];
    const std::size_t spare = cache.spares[of] == nullptr ? 0 : facts.batch;
    bytes += (facts.batch - cache.bins[of].room + spare) * facts.bytes;
    bytes += static_cast<std::size_t>(cache.runs[of].end - cache.runs[of].next);
  }
  return bytes;
}

void lock_caches() noexcept { idle.lock.lock(); }
void unlock_caches() noexcept { idle.lock.unlock(); }

namespace {

HEAPWISE_NOINLINE void* allocate_uncached(size_class of) noexcept {
  void* const block = start_heap() ? the_bins[of].take_one(of) : nullptr;
  return block != nullptr ? block : no_memory();
}

/// Effects: a complete batch becomes the spare one; the spare one before it goes to the bin.
void make_room(heap_cache& cache, size_class of) noexcept {
  cache_bin& bin = cache.bins[of];
  std::byte* const surplus = cache.spares[of];
  cache.spares[of] = bin.head;
  bin.head = nullptr;
  bin.room = class_table[of].batch;
  if (surplus == nullptr) return;
  the_bins[of].flush(surplus, of);
  notice_free_memory();
}

} // namespace

void* refill(size_class of) noexcept {
  heap_cache* const cache = own_cache();
  if (cache == nullptr) return allocate_uncached(of);
  if (cache->spares[of] != nullptr) {
    cache->bins[of].head = cache->spares[of];
    cache->bins[of].room = 0;
    cache->spares[of] = nullptr;
  } else if (cache->bins[of].head == nullptr && cache->runs[of].next == cache->runs[of].end &&
             !the_bins[of].refill(*cache, of)) {
    return no_memory();
  }
  return take<chosen_profile>(of);
}

void release_slowly(void* block) noexcept {
  if (block == nullptr) return;
  const size_class of = the_heap_map.class_at(block);
  if (of == no_class) {
    release_uncommon(block);
  } else {
    release_small(block, of);
  }
}

void release_small(void* block, size_class of) noexcept {
  heap_cache* const cache = own_cache();
  if (cache == nullptr) {
    release_uncached(block, of);
    return;
  }
  cache_bin& bin = cache->bins[of];
  if (chosen_profile::checks_head && (bin.head == block || cache->hot[of] == block)) {
    invalid_free(block, invalid::freed_before);
    return;
  }
  if (bin.room == 0) make_room(*cache, of);
  store_link<chosen_profile>(block, bin.head, cache->key);
  bin.head = static_cast<std::byte*>(block);
  --bin.room;
}

} // namespace heapwise::detail
