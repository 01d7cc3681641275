// Caches without a thread: what one that has ended leaves, the next one that begins takes over.
#pragma once

#include <cstddef>

#include "heapwise/detail/heap_cache.hpp"

namespace heapwise::detail {

/// Returns: a cache for a thread, one that was idle or a new one; nullptr without memory.
[[nodiscard]] heap_cache* adopt_cache() noexcept;

/// Effects: the cache of a thread that ends waits for another one. If there are many already, it is
/// emptied first.
void pass_on_cache(heap_cache& cache) noexcept;

/// Effects: gives the blocks of the caches without a thread to the bins.
void empty_idle_caches() noexcept;

/// Effects: takes from the caches of threads the spare batches that their threads have not
/// exchanged during the last `looks` calls, and gives their blocks back to the spans: of threads
/// that wait, or do without the class. Two threads that do it at the same time share the caches
/// between them. Requires: looks <= spare_batch::most_looks. Complexity: the caches that have a
/// thread.
void release_old_spares(unsigned looks) noexcept;

/// Returns: how many caches have a thread.
[[nodiscard]] std::size_t thread_count() noexcept;

/// Returns: how many caches wait for a thread.
[[nodiscard]] std::size_t idle_cache_count() noexcept;

/// Returns: the bytes of the free blocks in them.
[[nodiscard]] std::size_t idle_cached_bytes() noexcept;

/// Effects: from now on, only the thread of this cache is counted, or none if it is nullptr. Caches
/// of others keep their blocks, which are lost, except for their spare batches. Thread safety: for
/// the only thread of a process, as in a child of fork.
void count_only_thread(heap_cache* own) noexcept;

/// Taken around a fork. Order: before all bins.
void lock_caches() noexcept;
void unlock_caches() noexcept;

} // namespace heapwise::detail
