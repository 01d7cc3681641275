#include "heap/caches.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <new>
#include <utility>

#include "heap/batches.hpp"
#include "heap/bins.hpp"
#include "heap/clock.hpp"
#include "heap/invalid.hpp"
#include "heap/last_resort.hpp"
#include "heap/mixed.hpp"
#include "heap/no_memory.hpp"
#include "heap/profile.hpp"
#include "heap/sharing.hpp"
#include "heap/start.hpp"
#include "heap/thread_cache.hpp"
#include "heap/uncommon.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

constinit std::byte* no_blocks = nullptr;

/// The end of a stack that is empty and full at once: there is no batch.
constexpr std::byte** no_room = &no_blocks + 1;

constexpr heap_cache make_no_cache() noexcept {
  heap_cache made{};
  for (std::byte**& top : made.tops) top = no_room;
  for (std::byte**& end : made.ends) end = no_room;
  return made;
}

/// Stands for "no cache yet": its stacks are empty and have no room.
constinit heap_cache no_cache = make_no_cache();

/// Stands for "no cache ever again".
constinit heap_cache no_later_cache = make_no_cache();

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

/// Without it, caches of threads that end are lost.
constinit bool ends_are_told = false;

thread_cache& all_of(heap_cache& cache) noexcept { return static_cast<thread_cache&>(cache); }

bool has_stack(const heap_cache& cache, size_class of) noexcept {
  return cache.ends[of] != no_room;
}

bool has_batch(heap_cache& cache, size_class of) noexcept {
  return all_of(cache).bin_calls[of] >= thread_cache::just_grown;
}

/// Requires: there is one.
batch* batch_of(const heap_cache& cache, size_class of) noexcept {
  return reinterpret_cast<batch*>(cache.ends[of] - class_table[of].batch) - 1;
}

void load(heap_cache& cache, size_class of, batch* loaded, std::uint32_t blocks) noexcept {
  cache.tops[of] = loaded->blocks() + blocks;
  cache.ends[of] = loaded->blocks() + class_table[of].batch;
}

/// Requires: there is a stack. Returns: where its lowest block is, or comes to be.
std::byte** begin_of_stack(heap_cache& cache, size_class of) noexcept {
  return has_batch(cache, of) ? batch_of(cache, of)->blocks() : all_of(cache).short_stack(of);
}

std::size_t height_of_stack(heap_cache& cache, size_class of) noexcept {
  return static_cast<std::size_t>(cache.tops[of] - begin_of_stack(cache, of));
}

/// Requires: the batch in use is as full as the spare one is empty, or the other way round.
void change_batches(heap_cache& cache, size_class of) noexcept {
  batch* const used = batch_of(cache, of);
  const bool was_full = std::exchange(cache.spare_is_full[of], !cache.spare_is_full[of]);
  load(cache, of, std::exchange(cache.spares[of], used), was_full ? class_table[of].batch : 0);
}

void put_back(std::byte* const* blocks, std::size_t count, size_class of) noexcept {
  if (of == mixed_class) {
    the_mixed_spans.put_back({blocks, count});
  } else {
    put_back_blocks(blocks, count, of);
  }
}

void release_uncached(void* block, size_class of) noexcept {
  std::byte* const one = static_cast<std::byte*>(block);
  put_back(&one, 1, of);
}

void empty(heap_cache& cache, size_class of) noexcept {
  if (std::byte* const hot = std::exchange(cache.hot[of], nullptr)) release_uncached(hot, of);
  if (has_stack(cache, of)) {
    put_back(begin_of_stack(cache, of), height_of_stack(cache, of), of);
    if (has_batch(cache, of)) delete_batch(batch_of(cache, of), of);
    cache.tops[of] = cache.ends[of] = no_room;
    all_of(cache).bin_calls[of] = 0;
  }
  if (batch* const spare = std::exchange(cache.spares[of], nullptr)) {
    if (std::exchange(cache.spare_is_full[of], false)) {
      put_back(spare->blocks(), class_table[of].batch, of);
    }
    delete_batch(spare, of);
  }
}

/// Effects: gives whole batches to the bins, which pass them on to other threads.
void pass_on_whole(heap_cache& cache) noexcept {
  for (size_class of = 1; of <= class_count; ++of) {
    if (!cache.spare_is_full[of]) continue;
    flush_batch(cache.spares[of], of);
    cache.spare_is_full[of] = false;
  }
}

void empty(heap_cache& cache) noexcept {
  for (size_class of = 1; of <= mixed_class; ++of) empty(cache, of);
}

std::size_t cached_bytes(heap_cache& cache) noexcept {
  std::size_t bytes = 0;
  for (size_class of = 1; of <= class_count; ++of) {
    const class_facts& facts = class_table[of];
    std::size_t blocks = cache.spare_is_full[of] ? facts.batch : 0;
    if (has_stack(cache, of)) blocks += height_of_stack(cache, of);
    bytes += blocks * facts.bytes;
  }
  return bytes;
}

std::size_t pages_of_a_cache() noexcept {
  const std::size_t page = os::page_bytes();
  return (sizeof(thread_cache) + page - 1) / page * page;
}

/// Returns: a cache that was never used, or nullptr.
heap_cache* make_cache() noexcept {
  void* const memory = os::map(pages_of_a_cache(), os::page_bytes());
  if (memory == nullptr) return nullptr;
  auto* const made = new (memory) thread_cache{no_cache, {}, {}};
  made->map = the_heap_map;
  return made;
}

/// Requires: the lock.
void count_idle(std::size_t more) noexcept {
  idle.bytes.store(idle.bytes.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Returns: a cache with blocks that was idle, or nullptr. Requires: the lock.
heap_cache* pop_filled() noexcept {
  if (idle.filled_count == 0) return nullptr;
  const filled_cache last = idle.filled[--idle.filled_count];
  count_idle(std::size_t{0} - last.bytes);
  return last.cache;
}

/// Returns: a cache that was idle, or nullptr. Requires: the lock.
heap_cache* pop_idle() noexcept {
  if (heap_cache* const filled = pop_filled()) return filled;
  if (idle.emptied_count == 0) return nullptr;
  --idle.emptied_count;
  return std::exchange(idle.emptied, idle.emptied->next);
}

heap_cache* adopt_cache() noexcept {
  {
    const std::lock_guard hold{idle.lock};
    if (heap_cache* const found = pop_idle()) {
      ++idle.in_use;
      return found;
    }
  }
  heap_cache* const made = make_cache(); // without the lock: the system may take its time
  if (made == nullptr) return nullptr;
  const std::lock_guard hold{idle.lock};
  ++idle.in_use;
  return made;
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
  if (!keep_emptied(cache)) os::unmap(&cache, pages_of_a_cache());
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

/// The cache of a thread that ends is there for the next one.
void abandon(void* abandoned) {
  auto& cache = *static_cast<heap_cache*>(abandoned);
  forgo_cache();
  if (!keep_filled(cache)) {
    pass_on_whole(cache);
    empty(cache);
    retire_emptied(cache);
  }
  notice_free_memory();
}

} // namespace

inline namespace layout_3 {
__thread heap_cache* current_cache = &no_cache;
} // namespace layout_3

void watch_thread_exits() noexcept { ends_are_told = os::set_thread_exit(abandon); }

void use_no_cache() noexcept { current_cache = &no_cache; }

void forgo_cache() noexcept { current_cache = &no_later_cache; }

heap_cache* own_cache() noexcept {
  heap_cache* const cache = current_cache;
  if (cache == &no_later_cache) return nullptr;
  if (cache != &no_cache) return cache;
  if (!start_heap()) return nullptr;
  heap_cache* const adopted = adopt_cache();
  if (adopted == nullptr) return nullptr;
  current_cache = adopted; // first: arranging the end of the thread allocates
  if (ends_are_told) os::at_thread_exit(adopted);
  return adopted;
}

void empty_own_cache() noexcept {
  heap_cache* const cache = current_cache;
  // Those that stand for none belong to all threads, and nobody may write to them.
  if (cache != &no_cache && cache != &no_later_cache) empty(*cache);
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

std::size_t own_cached_bytes() noexcept {
  heap_cache* const cache = current_cache;
  return cache == &no_cache || cache == &no_later_cache ? 0 : cached_bytes(*cache);
}

void lock_caches() noexcept { idle.lock.lock(); }
void unlock_caches() noexcept { idle.lock.unlock(); }

namespace {

HEAPWISE_NOINLINE void* allocate_uncached(size_class of) noexcept {
  if (!start_heap()) return no_memory();
  void* block = take_one_block(of);
  if (block == nullptr) {
    free_what_waits();
    block = take_one_block(of);
  }
  return block != nullptr ? block : no_memory();
}

/// Effects: from now on the class has a batch, with the blocks of its short stack.
/// Returns: whether there was memory.
bool grow(heap_cache& cache, size_class of) noexcept {
  batch* const made = new_batch(of);
  if (made == nullptr) return false;
  const std::size_t blocks = has_stack(cache, of) ? height_of_stack(cache, of) : 0;
  std::copy_n(all_of(cache).short_stack(of), blocks, made->blocks());
  all_of(cache).bin_calls[of] = thread_cache::just_grown;
  load(cache, of, made, static_cast<std::uint32_t>(blocks));
  return true;
}

/// Effects: counts a call of the bin. The short stack has one place more, or the class has a batch
/// from now on. Requires: a short stack.
void count_bin_call(heap_cache& cache, size_class of) noexcept {
  std::uint8_t& calls = all_of(cache).bin_calls[of];
  if (calls == short_stacks::most_bin_calls(of)) {
    static_cast<void>(grow(cache, of)); // without memory all remains as it is
    return;
  }
  ++calls;
  cache.ends[of] =
      all_of(cache).short_stack(of) + std::min<std::size_t>(calls, short_stacks::most_places(of));
}

/// Effects: fills the short stack, the lowest block on top. Requires: it is empty.
/// Returns: whether there was memory for a block.
bool fill_short(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of_stack(cache, of);
  std::byte**& top = cache.tops[of];
  while (top != cache.ends[of]) {
    auto* const block = static_cast<std::byte*>(take_one_block(of));
    if (block == nullptr) break;
    *top++ = block;
  }
  std::reverse(begin, top);
  return top != begin;
}

/// Effects: sees to it that the stack has a block. Requires: it has none.
/// Returns: whether there was memory.
bool fill(heap_cache& cache, size_class of) noexcept {
  if (!has_batch(cache, of)) count_bin_call(cache, of);
  if (!has_batch(cache, of)) return fill_short(cache, of);
  if (cache.spare_is_full[of]) {
    change_batches(cache, of);
    return true;
  }
  batch* used = batch_of(cache, of);
  // Half of the first one, so that a few blocks that come and go from now on find both room and
  // blocks in this batch. From a full one they would go to and fro between two.
  const bool is_first =
      std::exchange(all_of(cache).bin_calls[of], thread_cache::grown) == thread_cache::just_grown;
  const std::uint32_t whole = class_table[of].batch;
  const std::uint32_t blocks = refill_batch(used, of, is_first ? (whole + 1) / 2 : whole);
  load(cache, of, used, blocks);
  return blocks > 0;
}

/// Effects: sees to it that there is a stack. Returns: whether there is.
bool have_stack(heap_cache& cache, size_class of) noexcept {
  if (has_stack(cache, of)) return true;
  if (of == mixed_class) return grow(cache, of);
  cache.tops[of] = cache.ends[of] = all_of(cache).short_stack(of);
  return true;
}

/// Effects: makes room in the short stack. Half of its blocks, those that were freed first, go back
/// to their spans. Requires: it is full.
void make_room_short(heap_cache& cache, size_class of) noexcept {
  std::byte** const begin = begin_of_stack(cache, of);
  const std::size_t blocks = height_of_stack(cache, of);
  const std::size_t oldest = (blocks + 1) / 2;
  put_back(begin, oldest, of);
  std::copy(begin + oldest, begin + blocks, begin);
  cache.tops[of] = begin + (blocks - oldest);
}

/// Effects: makes room in the batch in use. Requires: it is full.
void make_room_in_batch(heap_cache& cache, size_class of) noexcept {
  batch*& spare = cache.spares[of];
  if (spare == nullptr && of != mixed_class) spare = new_batch(of);
  if (spare == nullptr) {
    std::byte** const begin = batch_of(cache, of)->blocks();
    put_back(begin, class_table[of].batch, of);
    cache.tops[of] = begin;
  } else {
    // The spare one has the blocks that were freed first.
    if (std::exchange(cache.spare_is_full[of], false)) flush_batch(spare, of);
    change_batches(cache, of);
  }
}

/// Effects: makes room in the stack. Requires: it is full.
void make_room(heap_cache& cache, size_class of) noexcept {
  if (!has_batch(cache, of)) count_bin_call(cache, of);
  if (!has_batch(cache, of)) {
    make_room_short(cache, of);
  } else if (cache.tops[of] == cache.ends[of]) {
    make_room_in_batch(cache, of);
  }
  if (may_look_at_all()) notice_free_memory();
}

} // namespace

inline namespace layout_3 {

void* refill(std::size_t wanted) noexcept {
  const auto of = static_cast<size_class>(wanted);
  heap_cache* const cache = own_cache();
  if (cache == nullptr || !have_stack(*cache, of)) return allocate_uncached(of);
  if (cache->tops[of][-1] == nullptr && !fill(*cache, of)) return allocate_uncached(of);
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
  if (cache == nullptr || !have_stack(*cache, of)) {
    release_uncached(block, of);
    return;
  }
  if (chosen_profile::checks_last && (cache->tops[of][-1] == block || cache->hot[of] == block)) {
    invalid_free(block, invalid::freed_before);
    return;
  }
  if (cache->tops[of] == cache->ends[of]) make_room(*cache, of);
  *cache->tops[of]++ = static_cast<std::byte*>(block);
}

} // namespace layout_3

} // namespace heapwise::detail
