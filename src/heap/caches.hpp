// Which thread has which cache: taken at a thread's first call, passed on when it ends.
#pragma once

#include <cstddef>

#include "heapwise/detail/heap_cache.hpp"

namespace heapwise::detail {

/// Returns: the calling thread's cache, made or taken over if need be; nullptr in a thread that has
/// ended as far as the heap is concerned, and without memory.
[[nodiscard]] heap_cache* own_cache() noexcept;

/// Effects: from now on the caches of threads that end are passed on. Called once, at the start.
void watch_thread_exits() noexcept;

/// Effects: in a thread whose thread-local storage has no values yet: gives it the one that stands
/// for "no cache".
void use_no_cache() noexcept;

/// Effects: from now on the heap serves the calling thread without a cache.
void forgo_cache() noexcept;

/// Effects: gives all blocks of the calling thread's cache to the bins.
void empty_own_cache() noexcept;

/// Returns: the bytes of the free blocks in the calling thread's cache.
[[nodiscard]] std::size_t own_cached_bytes() noexcept;

} // namespace heapwise::detail
