// Which slices are used, and in which parts of the heap a run of free slices may be long enough.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "os/expects.hpp"

namespace heapwise::detail {

using slice_index = std::size_t;

/// A bit for each slice, in words of 64.
using slice_word = std::uint64_t;
inline constexpr std::size_t slices_of_a_word = 64;

/// Returns: the smallest multiple of `to` that is not less than `value`.
constexpr std::size_t round_up(std::size_t value, std::size_t to) noexcept {
  return (value + to - 1) / to * to;
}

/// Returns: how many bits of a word are set. Requires: they are set side by side.
/// (std::popcount calls a function on processors of which no more is known than x86-64.)
constexpr std::uint32_t count_run(slice_word run) noexcept {
  expects(run == 0 || std::has_single_bit((run >> std::countr_zero(run)) + 1) || ~run == 0 ||
              (run >> std::countr_zero(run)) == ~slice_word{0} >> std::countr_zero(run),
          "the bits of a run are side by side");
  return run == 0 ? 0
                  : static_cast<std::uint32_t>(std::bit_width(run)) -
                        static_cast<std::uint32_t>(std::countr_zero(run));
}

/// Calls `change(word, mask)` for each word of a bitmap that holds some of the bits.
template <class Change>
void each_word(slice_word* words, slice_index first, std::size_t count, Change change) {
  const slice_index end = first + count;
  while (first < end) {
    const std::size_t from = first % slices_of_a_word;
    const std::size_t length = std::min(slices_of_a_word - from, end - first);
    const slice_word mask = (~slice_word{0} >> (slices_of_a_word - length)) << from;
    change(words[first / slices_of_a_word], mask);
    first += length;
  }
}

/// The search for free slices skips groups of slices in which no run begins that is long enough.
/// The bound that it goes by is never too low. It may be too high after the longest run was taken;
/// the next search that meets it makes it exact. Thread safety: none, the space has a lock.
class slice_map {
 public:
  static constexpr std::size_t slices_of_a_group = 4096;

  /// Returns: the bytes of the tables for this many slices.
  [[nodiscard]] static std::size_t bytes_for(std::size_t slices) noexcept;

  /// Effects: all slices are free. Requires: zeroed memory of bytes_for(slices), aligned to 8.
  void start(void* memory, std::size_t slices) noexcept;

  [[nodiscard]] std::size_t slices() const noexcept { return slices_; }

  /// Returns: the lowest `count` free slices side by side; slices() if there are none.
  /// `base + result` is a multiple of `alignment`.
  /// Complexity: the groups of the heap, and the runs in those groups that may hold the request.
  /// With an alignment of more than 1: the runs from the place on where the last request of this
  /// alignment was placed that was not longer.
  [[nodiscard]] slice_index find(std::size_t count, std::size_t alignment,
                                 std::size_t base) noexcept;

  [[nodiscard]] bool are_free(slice_index first, std::size_t count) noexcept {
    return next(true, first, first + count) == first + count;
  }

  /// Requires: they are free.
  void mark_used(slice_index first, std::size_t count) noexcept;
  /// Requires: they are used.
  void mark_free(slice_index first, std::size_t count) noexcept;

  /// Returns: the used slices of the word, a bit for each.
  [[nodiscard]] slice_word used_of_word(std::size_t number) const noexcept { return used_[number]; }

  /// Returns: whether the counts and the bounds agree with the bits of all slices below `limit`,
  /// and the slices from there on are free. Complexity: linear in `limit`.
  [[nodiscard]] bool is_sound(slice_index limit) noexcept;

  /// Returns: how many words and groups all searches have looked at.
  [[nodiscard]] std::size_t visited() const noexcept { return visited_; }

 private:
  struct group {
    std::uint32_t longest; // no free run that begins here is longer
    std::uint32_t used;    // slices
  };
  static constexpr std::uint32_t unknown = UINT32_MAX;

  /// What is known of the places of an alignment: `count` or more slices have none below `from`.
  /// With a count of 0 nothing is known.
  struct aligned_bound {
    slice_index from = 0;
    std::size_t count = 0;
    std::size_t base = 0;
  };
  static constexpr std::size_t alignments = 8 * sizeof(std::size_t); // powers of two

  /// Returns: the first slice at or after `from` that is used (or free), or `limit`.
  [[nodiscard]] slice_index next(bool used, slice_index from, slice_index limit) noexcept;
  /// Returns: where the free run begins that ends before `end`.
  [[nodiscard]] slice_index begin_of_run(slice_index end) noexcept;
  [[nodiscard]] slice_index find_in_group(slice_index& at, std::size_t count) noexcept;
  [[nodiscard]] slice_index find_by_words(slice_index at, slice_index end,
                                          std::size_t count) noexcept;
  slice_index measure_group(slice_index& at, std::size_t count) noexcept;
  /// Returns: `run`, or slices() if the map ends before `count` slices.
  [[nodiscard]] slice_index begin_if_inside(slice_index run, std::size_t count) const noexcept {
    return run + count <= slices_ ? run : slices_;
  }
  [[nodiscard]] slice_index find_aligned(std::size_t count, std::size_t alignment,
                                         std::size_t base) noexcept;
  void lower_aligned_bounds(slice_index run, slice_index freed) noexcept;
  [[nodiscard]] bool are_aligned_bounds_sound() noexcept;
  void raise_bound(slice_index run) noexcept;
  [[nodiscard]] bool is_group_sound(std::size_t number) noexcept;

  slice_word* used_ = nullptr;
  group* groups_ = nullptr;
  std::size_t slices_ = 0;
  slice_index lowest_free_ = 0; // no slice below it is free
  std::size_t visited_ = 0;
  std::size_t alignments_in_use_ = 0; // the bounds behind them are not known
  std::array<aligned_bound, alignments> aligned_bounds_;
};

} // namespace heapwise::detail
