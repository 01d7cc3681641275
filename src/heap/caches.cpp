#include "heap/caches.hpp"

#include "heap/bins.hpp"
#include "heap/clock.hpp"
#include "heap/idle_caches.hpp"
#include "heap/invalid.hpp"
#include "heap/last_resort.hpp"
#include "heap/no_memory.hpp"
#include "heap/profile.hpp"
#include "heap/stacks.hpp"
#include "heap/start.hpp"
#include "heap/uncommon.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// Stands for "no cache yet": its stacks are empty and have no room.
constinit heap_cache no_cache = cache_without_stacks();

/// Stands for "no cache ever again".
constinit heap_cache no_later_cache = cache_without_stacks();

/// Without it, caches of threads that end are lost.
constinit bool ends_are_told = false;

/// The cache of a thread that ends is there for the next one.
void abandon(void* abandoned) {
  forgo_cache();
  pass_on_cache(*static_cast<heap_cache*>(abandoned));
  notice_free_memory();
}

} // namespace

inline namespace layout_3 {
__thread heap_cache* current_cache = &no_cache;
} // namespace layout_3

void watch_thread_exits() noexcept { ends_are_told = os::set_thread_exit(abandon); }

void use_no_cache() noexcept { current_cache = &no_cache; }

void forgo_cache() noexcept { current_cache = &no_later_cache; }

namespace {

/// Returns: a cache for a thread that has none yet, or nullptr.
HEAPWISE_NOINLINE heap_cache* take_cache() noexcept {
  if (!start_heap()) return nullptr;
  heap_cache* const adopted = adopt_cache();
  if (adopted == nullptr) return nullptr;
  current_cache = adopted; // first: arranging the end of the thread allocates
  if (ends_are_told) os::at_thread_exit(adopted);
  return adopted;
}

} // namespace

heap_cache* own_cache() noexcept {
  heap_cache* const cache = current_cache;
  if (cache == &no_later_cache) return nullptr;
  return cache != &no_cache ? cache : take_cache();
}

void empty_own_cache() noexcept {
  heap_cache* const cache = current_cache;
  // Those that stand for none belong to all threads, and nobody may write to them.
  if (cache != &no_cache && cache != &no_later_cache) empty(*cache);
}

std::size_t own_cached_bytes() noexcept {
  heap_cache* const cache = current_cache;
  return cache == &no_cache || cache == &no_later_cache ? 0 : cached_bytes(*cache);
}

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

void release_uncached(void* block, size_class of) noexcept {
  std::byte* const one = static_cast<std::byte*>(block);
  put_back(&one, 1, of);
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
