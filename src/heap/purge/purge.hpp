// Giving back what is free.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwise::detail {

/// Effects: with `keep`, free memory goes back from now on only if the program asks for it, or the
/// heap is over its soft limit; without, it goes back by itself again.
void keep_free_memory(bool keep) noexcept;

/// Returns: whether free memory stays. Relaxed: the program cannot tell when it is obeyed.
[[nodiscard]] bool keeps_free_memory() noexcept;

/// Returns: what is free and may be resident: slices, blocks in spans, and blocks that wait.
/// Some of these pages may have been given back before.
[[nodiscard]] std::size_t purgeable_bytes() noexcept;

/// Effects: gives back the pages of spans that hold free blocks only: of all spans, or of those
/// from and to which no block went between two calls (`touch` in span.hpp). Ends when `wanted`
/// bytes went back. Returns: the bytes given back.
std::size_t purge_spans(bool even_if_touched, std::size_t wanted = SIZE_MAX) noexcept;

/// Effects: gives back free pages until `wanted` bytes went back, or no more are free: first whole
/// slices, then those that come to be free when blocks leave caches, then pages of spans.
/// Returns: the bytes given back.
std::size_t purge_at_least(std::size_t wanted) noexcept;

/// Effects: gives back all free pages at once. Returns: the bytes given back.
inline std::size_t purge_everything() noexcept { return purge_at_least(SIZE_MAX); }

/// Returns: by how many bytes the heap is over its soft limit: slices that are used or dirty.
[[nodiscard]] std::size_t bytes_over_soft_limit() noexcept;

/// Returns: the bytes given back so far.
[[nodiscard]] std::size_t purged_bytes() noexcept;

/// Effects: counts bytes that were given back.
void count_purged(std::size_t bytes) noexcept;

} // namespace heapwise::detail
