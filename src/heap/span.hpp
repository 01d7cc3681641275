// A span: slices side by side that hold blocks of one class, or one large block. What the heap
// knows of it lies apart from it, so that no overrun reaches it.
#pragma once

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heapwise/detail/config.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

inline constexpr std::size_t granules_of_a_slice = slice_bytes / granule_bytes;

class owned_blocks;

/// What a slice is used for.
enum class slice_use : std::uint8_t {
  none,   // free, or never used
  inside, // not the first slice of its span
  small,  // blocks of one class, shared by all threads
  owned,  // blocks of one class that belong to a heap of its own
  mixed,  // blocks of all classes, shared by all threads
  large,  // one block
};

/// One bit for each block (of a span of small blocks): set when it is in the span, not in any cache
/// and not in use.
class block_map {
 public:
  static constexpr std::uint32_t bits = granules_of_a_slice;
  static constexpr std::uint32_t word_bits = 64;

  void fill(std::uint32_t count) noexcept {
    const std::uint32_t whole = count / 64;
    for (std::uint32_t each = 0; each < whole; ++each) words_[each] = ~std::uint64_t{0};
    if (count % 64 != 0) words_[whole] = (std::uint64_t{1} << (count % 64)) - 1;
  }
  /// Returns: how many of the first `limit` bits are set.
  [[nodiscard]] std::uint32_t count(std::uint32_t limit) const noexcept {
    std::uint32_t set = 0;
    for (std::uint32_t word = 0; word * 64 < limit; ++word) {
      const std::uint32_t behind = limit - word * 64;
      const std::uint64_t mask = behind < 64 ? (std::uint64_t{1} << behind) - 1 : ~std::uint64_t{0};
      set += static_cast<std::uint32_t>(std::popcount(words_[word] & mask));
    }
    return set;
  }
  [[nodiscard]] bool test(std::uint32_t block) const noexcept {
    return (words_[block / 64] >> (block % 64) & 1) != 0;
  }
  void set(std::uint32_t block) noexcept { words_[block / 64] |= std::uint64_t{1} << (block % 64); }
  void set_run(std::uint32_t first, std::uint32_t count) noexcept {
    each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word |= mask; });
  }
  void clear_run(std::uint32_t first, std::uint32_t count) noexcept {
    each_word(first, count, [](std::uint64_t& word, std::uint64_t mask) { word &= ~mask; });
  }

  /// Effects: sets bits of one word if none of them is set. Returns: whether that is so.
  [[nodiscard]] bool set_if_clear(std::uint32_t word, std::uint64_t mask) noexcept {
    if ((words_[word] & mask) != 0) return false;
    words_[word] |= mask;
    return true;
  }

  /// Effects: clears the lowest `count` set bits, and calls `take(first, length)` for runs that are
  /// all of them, in order. Requires: as many are set.
  template <class Take>
  void take_lowest(std::uint32_t count, Take take) noexcept {
    for (std::uint32_t word = 0; count > 0; ++word) {
      std::uint64_t left = words_[word];
      while (left != 0 && count > 0) {
        const auto bit = static_cast<std::uint32_t>(std::countr_zero(left));
        const auto run = static_cast<std::uint32_t>(std::countr_one(left >> bit));
        const std::uint32_t length = run < count ? run : count;
        left &= ~((~std::uint64_t{0} >> (64 - length)) << bit);
        count -= length;
        take(word * 64 + bit, length);
      }
      words_[word] = left;
    }
  }

  // Always inlined: GCC takes a function that only prefetches for one without an effect, and
  // deletes the calls of it.
  HEAPWISE_ALWAYS_INLINE void prefetch(std::uint32_t block) const noexcept {
    HEAPWISE_PREFETCH_TO_WRITE(&words_[block / 64]);
  }

  /// Returns: the first block at or after `from` whose bit is `value`, or `limit`.
  [[nodiscard]] std::uint32_t find(bool value, std::uint32_t from,
                                   std::uint32_t limit) const noexcept {
    const std::uint64_t flip = value ? 0 : ~std::uint64_t{0};
    for (std::uint32_t word = from / 64; word * 64 < limit; ++word) {
      std::uint64_t candidates = words_[word] ^ flip;
      if (word == from / 64) candidates &= ~std::uint64_t{0} << (from % 64);
      if (candidates != 0) {
        const std::uint32_t found =
            word * 64 + static_cast<std::uint32_t>(std::countr_zero(candidates));
        return found < limit ? found : limit;
      }
    }
    return limit;
  }

 private:
  template <class Change>
  void each_word(std::uint32_t first, std::uint32_t count, Change change) noexcept {
    const std::uint32_t end = first + count;
    while (first < end) {
      const std::uint32_t from = first % 64;
      const std::uint32_t length = end - first < 64 - from ? end - first : 64 - from;
      change(words_[first / 64], (~std::uint64_t{0} >> (64 - length)) << from);
      first += length;
    }
  }

  std::array<std::uint64_t, bits / 64> words_;
};

struct span {
  span* next; // in the list of its bin that holds spans about as full
  span* previous;
  std::atomic<slice_use> use;
  std::uint8_t of;           // size_class
  std::uint8_t fullness;     // which list it is in
  std::uint8_t touched;      // blocks came or went since the clock looked last
  std::uint32_t slices;      // of the whole span; of an inner slice: how far behind the first it is
  std::uint32_t free_blocks; // mixed: granules
  std::uint32_t searched;    // mixed: the next search for holes begins here
  std::uint32_t longest_seen; // mixed: of the holes before that, in granules
  std::uint32_t pieces;       // large: mappings that moved pages are, up to the next `mend`
  union {
    std::uint64_t purged_pages; // pages that were given back and hold free blocks only
    // large: what is behind these is not in use; at most `worth_purging_slices` (uncommon.cpp) of
    // it may be resident
    std::size_t touched_bytes;
  };
  std::size_t bytes;   // large: usable
  owned_blocks* owner; // owned: whose
  block_map free_map;
};

/// Returns: the bits of `count` pages from `first` on. Requires: count > 0, all below 64.
constexpr std::uint64_t page_bits(std::size_t first, std::size_t count) noexcept {
  return (~std::uint64_t{0} >> (64 - count)) << first;
}

} // namespace heapwise::detail
