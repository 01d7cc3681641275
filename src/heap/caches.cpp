#include "heap/caches.hpp"

#include "heap/bins.hpp"
#include "heap/block_states.hpp"
#include "heap/cache_stacks.hpp"
#include "heap/checked_paths.hpp"
#include "heap/guarded_pages.hpp"
#include "heap/idle_caches.hpp"
#include "heap/invalid.hpp"
#include "heap/last_resort.hpp"
#include "heap/no_memory.hpp"
#include "heap/profile.hpp"
#include "heap/purge_clock.hpp"
#include "heap/quarantine.hpp"
#include "heap/sealed_facts.hpp"
#include "heap/space.hpp"
#include "heap/start.hpp"
#include "heap/uncommon.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

namespace {

/// Stands for "no cache yet": its stacks are empty and have no room.
constinit const heap_cache no_cache = cache_without_stacks();

/// Stands for "no cache ever again".
constinit const heap_cache no_later_cache = cache_without_stacks();

/// Returns: it, as the pointers of threads have it. Nobody writes to it: the loader has made its
/// pages read-only.
constexpr heap_cache* stand_in(const heap_cache& none) noexcept {
  return const_cast<heap_cache*>(&none);
}

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
__thread heap_cache* current_cache = stand_in(no_cache);
} // namespace layout_3

namespace {

/// The cache of a profile that checks every call. `current_cache` stays at "no cache yet" there, so
/// that paths which programs have inlined end at the library's functions.
[[maybe_unused]] __thread heap_cache* hidden_cache = stand_in(no_cache);

HEAPWISE_ALWAYS_INLINE heap_cache*& cache_in_use() noexcept {
  if constexpr (chosen_profile::keeps_states) {
    return hidden_cache;
  } else {
    return current_cache;
  }
}

} // namespace

void watch_thread_exits() noexcept { ends_are_told = os::set_thread_exit(abandon); }

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
  if (ends_are_told) os::at_thread_exit(adopted);
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

namespace {

HEAPWISE_NOINLINE void* allocate_uncached(size_class class_index) noexcept {
  if (!start_heap()) return no_memory();
  void* block = take_one_block(class_index);
  if (block == nullptr) {
    free_what_waits();
    block = take_one_block(class_index);
  }
  return block != nullptr ? block : no_memory();
}

void release_uncached(void* block, size_class class_index) noexcept {
  std::byte* const one = static_cast<std::byte*>(block);
  put_back(&one, 1, class_index);
}

/// Effects: what the next `take_checked` of the class looks at comes into the processor's cache.
/// Blocks come up in random order, so the processor itself does not foresee it.
[[maybe_unused]] HEAPWISE_ALWAYS_INLINE void prefetch_next(const std::byte* next) noexcept {
  if (next == nullptr) return;
  HEAPWISE_PREFETCH_TO_WRITE(&the_space.granule_class(next));
  HEAPWISE_PREFETCH_TO_WRITE(next);
}

/// Effects: as `take`, from the cache of the profile. Requires: what `refill` does.
[[maybe_unused]] void* take_checked(size_class class_index) noexcept {
  heap_cache* cache = cache_in_use();
  std::byte* block = cache->tops[class_index][-1];
  if (block == nullptr) [[unlikely]] {
    if (void* const sampled = the_guards.sample(class_index)) return sampled;
    cache = own_cache();
    const bool has_blocks = cache != nullptr && have_stack(*cache, class_index) &&
                            (cache->tops[class_index][-1] != nullptr || fill(*cache, class_index));
    if (!has_blocks) {
      void* const alone = allocate_uncached(class_index);
      return alone == nullptr ? nullptr
                              : block_states::use(static_cast<std::byte*>(alone), class_index);
    }
    shuffle(*cache, class_index);
    block = cache->tops[class_index][-1];
  }
  std::byte** const top = --cache->tops[class_index];
  if constexpr (chosen_profile::clears) prefetch_next(top[-1]);
  return block_states::use(block, class_index);
}

/// Effects: as `take`, for a path that a program has inlined, which knows of no canary.
[[maybe_unused]] void* take_with_canary(size_class class_index) noexcept {
  const std::size_t bytes = class_table[class_index].bytes;
  const std::size_t alignment = class_alignment[class_index];
  if (!is_small(bytes)) return allocate_large(bytes, alignment, false);
  const std::size_t whole = bytes + chosen_profile::canary_bytes;
  return take_checked(static_cast<size_class>(aligned_class_of(whole, alignment)));
}

/// Effects: as `release_slowly`, where every block has a state.
[[maybe_unused]] void give_checked(void* freed) noexcept {
  if (freed == nullptr) return;
  auto* const address = static_cast<std::byte*>(freed);
  std::byte* block = without_tag(address);
  const size_class class_index = the_facts.map.class_at(block);
  if (class_index == no_class) {
    release_uncommon(block);
    return;
  }
  if (!block_states::free(address, class_index)) return;
  if constexpr (chosen_profile::quarantines) {
    heap_cache* const holder = own_cache();
    if (holder != nullptr) block = hold_back(*holder, block, class_index);
    if (block == nullptr) return;
  }
  heap_cache* cache = cache_in_use();
  if (cache->tops[class_index] == cache->ends[class_index]) [[unlikely]] {
    cache = own_cache();
    if (cache == nullptr || !have_stack(*cache, class_index)) {
      release_uncached(block, class_index);
      return;
    }
    if (cache->tops[class_index] == cache->ends[class_index]) make_room(*cache, class_index);
  }
  *cache->tops[class_index]++ = block;
  if constexpr (chosen_profile::clears) bury_top(*cache, class_index);
}

} // namespace

inline namespace layout_3 {

void* refill(std::size_t wanted) noexcept {
  const auto class_index = static_cast<size_class>(wanted);
  if constexpr (chosen_profile::keeps_states) {
    return chosen_profile::canary_bytes == 0 ? take_checked(class_index)
                                             : take_with_canary(class_index);
  } else {
    if constexpr (chosen_profile::samples_guards) {
      if (void* const sampled = the_guards.sample(class_index)) [[unlikely]]
        return sampled;
    }
    heap_cache* const cache = own_cache();
    if (cache == nullptr || !have_stack(*cache, class_index)) return allocate_uncached(class_index);
    if (cache->tops[class_index][-1] == nullptr && !fill(*cache, class_index))
      return allocate_uncached(class_index);
    return take(class_index);
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

void* take_of_class(size_class class_index) noexcept {
  if constexpr (chosen_profile::keeps_states) {
    return take_checked(class_index);
  } else {
    return take(class_index);
  }
}

} // namespace heapwise::detail
