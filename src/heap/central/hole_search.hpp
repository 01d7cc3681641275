// The holes of a mixed span, one after the other.
#pragma once

#include <bit>
#include <cstdint>

#include "heap/space/span.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Granules side by side that are free.
struct hole {
  std::uint32_t first;
  std::uint32_t end;

  [[nodiscard]] std::uint32_t length() const noexcept { return end - first; }
};

/// Finds runs of set bits. It keeps the rest of one word in a register: most holes lie in one word,
/// and a span has hundreds of them. Requires: only bits below its position change meanwhile.
class hole_search {
 public:
  static constexpr std::uint32_t limit = block_map::bits;

  /// Requires: from <= limit.
  hole_search(const block_map& map, std::uint32_t from) noexcept : map_{map} { go_to(from); }

  /// Effects: the search goes on at a position. Requires: from <= limit.
  HEAPWISE_ALWAYS_INLINE void go_to(std::uint32_t from) noexcept {
    expects(from <= limit, "a search begins in the map");
    number_ = from / word_bits;
    left_ = from == limit ? 0 : map_.word(number_) & ~std::uint64_t{0} << from % word_bits;
  }

  /// Returns: the next hole; one that begins at `limit` if there is none.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE hole next() noexcept {
    while (left_ == 0) {
      if (number_ + 1 >= words) return {limit, limit};
      left_ = map_.word(++number_);
    }
    const std::uint32_t first = position(left_);
    // The sum has a bit behind the run, and none if the run is the last thing in the word.
    const std::uint64_t behind = left_ + (left_ & (0 - left_));
    left_ &= behind;
    return {first, behind != 0 ? position(behind) : end_in_next_words()};
  }

 private:
  static constexpr std::uint32_t word_bits = block_map::word_bits;
  static constexpr std::uint32_t words = limit / word_bits;

  [[nodiscard]] std::uint32_t position(std::uint64_t bits) const noexcept {
    return number_ * word_bits + static_cast<std::uint32_t>(std::countr_zero(bits));
  }

  /// Returns: where a run ends that reaches the end of a word.
  [[nodiscard]] std::uint32_t end_in_next_words() noexcept {
    constexpr std::uint64_t all = ~std::uint64_t{0};
    while (number_ + 1 < words) {
      const std::uint64_t word = map_.word(++number_);
      if (word == all) continue;
      const std::uint64_t behind = word + 1;
      left_ = word & behind;
      return position(behind);
    }
    return limit;
  }

  const block_map& map_;
  std::uint32_t number_ = 0;
  std::uint64_t left_ = 0; // of the word: what lies behind the last hole
};

} // namespace heapwise::detail
