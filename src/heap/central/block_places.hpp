// Where the blocks of a class are: the span of each, and its number there.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heap/checks/span_guard.hpp"
#include "heap/space/space.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Divides by the size of a class, so that one comparison tells whether the result is the number of
/// a block: with the inverse of the odd factor, only multiples of the size have small quotients
/// (Granlund and Montgomery, Division by Invariant Integers using Multiplication, 1994).
class exact_division {
 public:
  constexpr exact_division() noexcept = default;
  constexpr explicit exact_division(std::size_t bytes) noexcept
      : inverse_{1}, shift_{std::countr_zero(bytes)} {
    const std::uint64_t odd = bytes >> shift_;
    while (odd * inverse_ != 1) inverse_ *= 2 - odd * inverse_; // twice as many bits are right
  }
  /// Returns: the quotient; more than any number of blocks if there is a remainder, or if the
  /// offset is that of an address below the first block.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::size_t number_at(std::uint64_t offset) const noexcept {
    return std::rotr(offset * inverse_, shift_);
  }

 private:
  std::uint64_t inverse_ = 0;
  int shift_ = 0;
};

inline constexpr std::array<exact_division, class_slots> divisions = [] {
  std::array<exact_division, class_slots> table;
  for (size_class class_index = 1; class_index <= class_count; ++class_index)
    table[class_index] = exact_division{class_table[class_index].bytes};
  return table;
}();

struct block_place {
  bool is_known; // whether a block of the bin can start there; otherwise the rest means nothing
  span* home;
  std::size_t number;
};

/// The blocks of a span whose bits share a word of its map.
class word_of_blocks {
 public:
  word_of_blocks(const std::byte* first, std::size_t limit, exact_division by_size) noexcept
      : first_{first}, limit_{limit}, by_size_{by_size} {}

  /// Returns: the bit of a block; too large a number for any other address.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::size_t bit_of(const std::byte* block) const noexcept {
    return by_size_.number_at(static_cast<std::uint64_t>(block - first_));
  }
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool has(std::size_t bit) const noexcept {
    return bit < limit_;
  }

 private:
  const std::byte* first_;
  std::size_t limit_; // the last word of a span has fewer
  exact_division by_size_;
};

/// Finds the blocks of one bin. A copy of what is known of its class and of the space: the compiler
/// keeps it in registers while records are written. `one_slice`: spans of the class have one slice.
template <bool one_slice>
class block_places {
 public:
  explicit block_places(bin_key key) noexcept
      : by_size_{divisions[key.class_index()]},
        bytes_{class_table[key.class_index()].bytes},
        most_{blocks_of_span(key.class_index())},
        key_{key} {}

  /// Returns: where a block is. A block that was freed with its size may be anything: nobody has
  /// looked at it before.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE block_place of(const std::byte* block) const noexcept {
    const auto address = reinterpret_cast<std::uintptr_t>(block);
    span* home = nullptr;
    std::size_t offset = 0;
    if constexpr (one_slice) { // found without a look at the record, which may be far away
      const std::size_t slice = (address + before_base_) / slice_bytes;
      if (slice >= slices_) [[unlikely]]
        return {};
      home = records_ + slice;
      offset = address % slice_bytes;
    } else {
      home = the_space.find_span(block);
      if (home == nullptr) [[unlikely]]
        return {};
      offset = address - reinterpret_cast<std::uintptr_t>(the_space.begin_of(*home));
    }
    const std::size_t number = by_size_.number_at(offset);
    // Relaxed: see span::key.
    if (number >= most_ || home->key.load(std::memory_order_relaxed) != key_) [[unlikely]]
      return {};
    return {true, home, number};
  }

  /// Returns: the blocks around one.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE word_of_blocks same_word(const std::byte* block,
                                                                std::size_t number) const noexcept {
    constexpr std::size_t word_bits = block_map::word_bits;
    const std::size_t bit = number % word_bits;
    return {block - bit * bytes_, std::min(word_bits, most_ - (number - bit)), by_size_};
  }

 private:
  // To add it is one instruction, into another register.
  std::uintptr_t before_base_ = 0 - reinterpret_cast<std::uintptr_t>(the_space.address_of(0));
  span* records_ = the_space.record(0);
  std::size_t slices_ = the_space.committed_slices();
  exact_division by_size_;
  std::size_t bytes_;
  std::size_t most_;
  bin_key key_;
};

} // namespace heapwise::detail
