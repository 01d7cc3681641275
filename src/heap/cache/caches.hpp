// Which thread has which cache: taken at a thread's first call, passed on when it ends.
#pragma once

#include <cstddef>

#include "heap/base/profile.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Stands for "no cache yet": its stacks are empty and have no room.
extern const heap_cache no_cache;

/// Stands for "no cache ever again".
extern const heap_cache no_later_cache;

/// Returns: a cache that stands for none, as the pointers of threads have it. Nobody writes to it:
/// the loader has made its pages read-only.
constexpr heap_cache* stand_in(const heap_cache& none) noexcept {
  return const_cast<heap_cache*>(&none);
}

/// The cache of a thread in a profile that checks every call, which alone has this variable.
/// `current_cache` stays at "no cache yet" there, so that paths which programs have inlined end at
/// the library's functions.
extern __thread heap_cache* hidden_cache;

/// Returns: the calling thread's cache, or one that stands for none.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE heap_cache*& cache_in_use() noexcept {
  if constexpr (chosen_profile.keeps_states) {
    return hidden_cache;
  } else {
    return current_cache;
  }
}

/// Returns: a cache for a thread that has none yet, or the one of a thread that counts its blocks;
/// nullptr without memory. Requires: the variable of the thread says "no cache yet".
[[nodiscard]] HEAPWISE_NOINLINE heap_cache* take_cache() noexcept;

/// The cache of a thread that counts what it allocates and frees; else nullptr. Fast paths do not
/// count. In such a thread `cache_in_use` stays at "no cache yet", so each call ends at a slow
/// path, which counts and uses this cache. The clock's thread has no such variable.
extern __thread heap_cache* counting_cache;

[[nodiscard]] inline bool thread_counts_blocks() noexcept { return counting_cache != nullptr; }

/// Effects: from now on the calling thread counts. Returns: whether it does; it does not without
/// memory, and after it has ended as far as the heap is concerned.
[[nodiscard]] bool begin_counting() noexcept;

/// Returns: the calling thread's cache; what `take()` returns if its variable says "no cache yet";
/// nullptr in a thread that has ended as far as the heap is concerned.
template <class Take>
[[nodiscard]] HEAPWISE_ALWAYS_INLINE heap_cache* own_cache_or(Take take) noexcept {
  heap_cache* const cache = cache_in_use();
  if (cache == &no_later_cache) return nullptr;
  if (cache == nullptr) __builtin_unreachable(); // so that callers need not ask
  return cache != &no_cache ? cache : take();
}

/// Returns: the calling thread's cache, made or taken over if need be; nullptr in a thread that has
/// ended as far as the heap is concerned, and without memory.
[[nodiscard]] inline heap_cache* own_cache() noexcept { return own_cache_or(take_cache); }

/// Returns: the calling thread's shard. Where there may be several, the thread gets a cache if it
/// has none. Requires: no lock is held.
[[nodiscard]] std::size_t own_shard() noexcept;

/// Returns: a block of the class straight from its bin, or nullptr.
[[nodiscard]] HEAPWISE_NOINLINE void* allocate_uncached(size_class class_index) noexcept;

/// Effects: gives a free block of the class straight to its span.
void release_uncached(void* block, size_class class_index) noexcept;

/// Effects: from now on the caches of threads that end are passed on, if the system has room for
/// that. Later calls do nothing.
void watch_thread_exits() noexcept;

/// Effects: in a thread whose thread-local storage has no values yet: gives it the one that stands
/// for "no cache".
void use_no_cache() noexcept;

/// Effects: from now on the heap serves the calling thread without a cache.
void forgo_cache() noexcept;

/// Effects: the threads that the parent had are not counted any more. Thread safety: for the only
/// thread of a process, a child of fork.
void forget_threads_of_parent() noexcept;

/// Effects: gives all blocks of the calling thread's cache to the bins.
void empty_own_cache() noexcept;

/// Returns: the bytes of the free blocks in the calling thread's cache.
[[nodiscard]] std::size_t own_cached_bytes() noexcept;

} // namespace heapwise::detail
