// Whether the bytes of a block are zero, and how a short block gets zeros: sixteen bytes at once,
// which every processor can that the heap is built for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"

#include "os/expects.hpp"

namespace heapwise::detail::zeros {

/// A block of at most this many bytes takes the same steps whatever its size is: sizes come up at
/// random, and the processor would mispredict where a loop ends.
inline constexpr std::size_t short_bytes = 128;

namespace steps {

/// Sixteen bytes in one register.
using words __attribute__((vector_size(granule_bytes))) = std::uint64_t;

[[nodiscard]] HEAPWISE_ALWAYS_INLINE words load(const std::byte* at) noexcept {
  words loaded;
  std::memcpy(&loaded, __builtin_assume_aligned(at, granule_bytes), sizeof loaded);
  return loaded;
}

HEAPWISE_ALWAYS_INLINE void clear(std::byte* at) noexcept {
  constexpr words none{};
  std::memcpy(__builtin_assume_aligned(at, granule_bytes), &none, sizeof none);
}

/// Calls `visit(offset)` for offsets that cover a short block, some of them more than once: four
/// from its begin on, and four from its end on backwards.
template <class Visit>
HEAPWISE_ALWAYS_INLINE void cover_short(std::size_t bytes, Visit visit) noexcept {
  const std::size_t last = bytes - granule_bytes;
#pragma GCC unroll 4
  for (std::size_t at = 0; at < short_bytes / 2; at += granule_bytes) {
    const std::size_t from_begin = std::min(at, last);
    visit(from_begin);
    visit(last - from_begin);
  }
}

/// Returns: all words of 64 bytes, combined.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE words combine(const std::byte* at) noexcept {
  return (load(at) | load(at + granule_bytes)) |
         (load(at + 2 * granule_bytes) | load(at + 3 * granule_bytes));
}

} // namespace steps

/// Returns: whether all bytes are 0. Requires: a multiple of 16 bytes, at least that many, aligned
/// to it.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE bool is_zero(const std::byte* begin,
                                                  std::size_t bytes) noexcept {
  expects(bytes >= granule_bytes && bytes % granule_bytes == 0, "granules are compared with zero");
  steps::words any{};
  if (bytes <= short_bytes) {
    steps::cover_short(bytes, [&](std::size_t offset) { any |= steps::load(begin + offset); });
  } else {
    constexpr std::size_t at_once = 4 * granule_bytes;
    const std::byte* const last = begin + (bytes - at_once);
    for (const std::byte* at = begin; at < last; at += at_once) any |= steps::combine(at);
    any |= steps::combine(last);
  }
  return (any[0] | any[1]) == 0;
}

/// Effects: all bytes are 0. Requires: as is_zero, and at most short_bytes.
HEAPWISE_ALWAYS_INLINE void clear_short(std::byte* begin, std::size_t bytes) noexcept {
  expects(granule_bytes <= bytes && bytes <= short_bytes, "a short block is cleared");
  steps::cover_short(bytes, [&](std::size_t offset) { steps::clear(begin + offset); });
}

} // namespace heapwise::detail::zeros
