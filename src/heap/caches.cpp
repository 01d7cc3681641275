#include "heap/caches.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <span>
#include <utility>

#include "heap/bin.hpp"
#include "heap/clock.hpp"
#include "heap/invalid.hpp"
#include "heap/mixed.hpp"
#include "heap/no_memory.hpp"
#include "heap/profile.hpp"
#include "heap/start.hpp"
#include "heap/uncommon.hpp"
#include "os/mutex.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constinit std::byte* no_blocks = nullptr;

constexpr heap_cache make_no_cache() noexcept {
  heap_cache made{};
  for (cache_bin& bin : made.bins) bin = {.top = &no_blocks + 1, .end = &no_blocks + 1};
  return made;
}

/// Stands for "no cache": its bins are empty and have no room.
constinit heap_cache no_cache = make_no_cache();

__thread bool thread_has_ended __attribute__((tls_model("initial-exec")));

/// Caches whose threads have ended, ready for new threads with what is in them.
struct idle_caches {
  os::mutex lock;
  heap_cache* first = nullptr;
  std::size_t count = 0;
  std::size_t in_use = 0;
};
constinit idle_caches idle;

/// Without it, caches of threads that end are lost.
constinit bool ends_are_told = false;

/// A stack holds two batches: one can come or go and leave the other.
constexpr std::size_t room_for(size_class of) noexcept { return 2 * class_table[of].batch; }

/// Where the stack of a class begins among those of all classes, behind the nullptr that ends it.
constexpr std::array<std::size_t, class_slots + 1> first_slots = [] {
  std::array<std::size_t, class_slots + 1> table{};
  for (size_class of = no_class; of < class_slots; ++of) {
    table[of + 1] = table[of] + room_for(of) + 1;
  }
  return table;
}();

/// A cache as it lies in memory: pages of stacks that are never used are never touched.
struct cache_with_stacks {
  heap_cache cache;
  std::byte* slots[first_slots.back()];

  [[nodiscard]] std::byte** begin_of(size_class of) noexcept { return slots + first_slots[of] + 1; }
};

std::byte** begin_of(heap_cache& cache, size_class of) noexcept {
  return reinterpret_cast<cache_with_stacks&>(cache).begin_of(of);
}

/// More than these are emptied when their thread ends, not later.
constexpr std::size_t most_filled = 8;

void release_uncached(void* block, size_class of) noexcept {
  std::byte* const one = static_cast<std::byte*>(block);
  if (of == mixed_class) {
    the_mixed_spans.put_back({&one, 1});
  } else {
    the_bins[of].put_back(&one, 1, of);
  }
}

/// Returns: the blocks of the stack, which is empty then; they stay where they are.
std::span<std::byte* const> take_all(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of(cache, of);
  return {begin, std::exchange(cache.bins[of].top, begin)};
}

void empty(heap_cache& cache) noexcept {
  for (size_class of = 1; of <= class_count; ++of) {
    if (std::byte* const hot = std::exchange(cache.hot[of], nullptr)) release_uncached(hot, of);
    const std::span<std::byte* const> blocks = take_all(cache, of);
    the_bins[of].put_back(blocks.data(), blocks.size(), of);
    cache_run& run = cache.runs[of];
    the_bins[of].put_back(run, of);
    run.next = run.end;
  }
  the_mixed_spans.put_back(take_all(cache, mixed_class));
}

/// Returns: a cache that was never used, or nullptr.
heap_cache* make_cache() noexcept {
  const std::size_t page = os::page_bytes();
  void* const memory = os::map((sizeof(cache_with_stacks) + page - 1) / page * page, page);
  if (memory == nullptr) return nullptr;
  heap_cache* const made = &static_cast<cache_with_stacks*>(memory)->cache; // all zero
  made->map = the_heap_map;
  for (size_class of = no_class; of < class_slots; ++of) {
    std::byte** const begin = begin_of(*made, of);
    made->bins[of] = {.top = begin, .end = begin + room_for(of)};
    made->runs[of].block_bytes = class_table[of].bytes;
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
    std::byte** const begin = begin_of(*current_cache, of);
    bytes += static_cast<std::size_t>(cache.bins[of].top - begin) * class_table[of].bytes;
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

/// Effects: the batch that was freed first goes to the bin.
void make_room(heap_cache& cache, size_class of) noexcept {
  cache_bin& bin = cache.bins[of];
  std::byte** const begin = begin_of(cache, of);
  std::byte** const kept = begin + class_table[of].batch;
  if (of == mixed_class) {
    the_mixed_spans.put_back({begin, kept});
  } else {
    the_bins[of].flush(begin, of);
  }
  bin.top = std::copy(kept, bin.top, begin);
  notice_free_memory();
}

} // namespace

void* refill(size_class of) noexcept {
  heap_cache* const cache = own_cache();
  if (cache == nullptr) return allocate_uncached(of);
  const bool empty_run = cache->runs[of].next == cache->runs[of].end;
  if (cache->bins[of].top[-1] == nullptr && empty_run && !the_bins[of].refill(*cache, of)) {
    return no_memory();
  }
  return take(of);
}

void release_slowly(void* block) noexcept {
  if (block == nullptr) return;
  const size_class of = the_heap_map.class_at(block);
  if (of == no_class) {
    release_uncommon(block);
    return;
  }
  heap_cache* const cache = own_cache();
  if (cache == nullptr) {
    release_uncached(block, of);
    return;
  }
  cache_bin& bin = cache->bins[of];
  if (chosen_profile::checks_last && (bin.top[-1] == block || cache->hot[of] == block)) {
    invalid_free(block, invalid::freed_before);
    return;
  }
  if (bin.top == bin.end) make_room(*cache, of);
  *bin.top++ = static_cast<std::byte*>(block);
}

} // namespace heapwise::detail
