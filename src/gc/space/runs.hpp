// Free blocks side by side, found by their marks, eight marks at a time.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gc/space/space.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

/// The blocks [first, end) of a slice.
struct free_run {
  std::uint32_t first;
  std::uint32_t end;
};

inline constexpr std::uint32_t marks_at_once = sizeof(std::uint64_t);

/// Returns: the top bit of each of the eight marks that is not 0. Requires: marks below 128.
HEAPWISE_ALWAYS_INLINE std::uint64_t set_marks(const mark* eight) noexcept {
  constexpr std::uint64_t below_top = 0x7F7F'7F7F'7F7F'7F7F;
  std::uint64_t marks = 0;
  std::memcpy(&marks, static_cast<const void*>(eight), sizeof marks);
  expects((marks & ~below_top) == 0, "a mark is below 128");
  return (marks + below_top) & ~below_top;
}

/// Returns: the first block in [from, limit) whose mark is set, or not set, as `wanted`; `limit` if
/// there is none. Requires: all marks of the last group of eight can be read.
HEAPWISE_ALWAYS_INLINE std::uint32_t find_mark(const mark* marks, std::uint32_t from,
                                               std::uint32_t limit, bool wanted) noexcept {
  constexpr std::uint64_t tops = 0x8080'8080'8080'8080;
  std::uint64_t beyond = ~std::uint64_t{0} << from % marks_at_once * 8; // of the first group
  for (std::uint32_t group = from - from % marks_at_once; group < limit; group += marks_at_once) {
    const std::uint64_t set = set_marks(marks + group);
    const std::uint64_t hits = (wanted ? set : set ^ tops) & beyond;
    if (hits != 0) {
      return std::min(limit, group + static_cast<std::uint32_t>(std::countr_zero(hits)) / 8);
    }
    beyond = ~std::uint64_t{0};
  }
  return limit;
}

/// Returns: the next blocks at or after `from` without marks, at most `most` of the `count` blocks
/// of a slice; first == end == count if there are none. Requires: from <= count, most > 0.
HEAPWISE_ALWAYS_INLINE free_run next_free_run(const mark* marks, std::uint32_t from,
                                              std::uint32_t count, std::uint32_t most) noexcept {
  expects(from <= count && most > 0, "a run begins in the slice and has blocks");
  const std::uint32_t first = find_mark(marks, from, count, false);
  return {first, find_mark(marks, first, std::min(first + most, count), true)};
}

} // namespace heapwise::gc
