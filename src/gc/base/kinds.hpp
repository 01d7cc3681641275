// Kinds of blocks: a size, and which words may hold addresses: all, none, or some. A slice holds
// blocks of one kind, and the kind is the byte that says so; everything else about an address
// follows from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "heapwise/detail/size_classes.hpp"
#include "os/expects.hpp"

namespace heapwise::gc {

using detail::granule_bytes;
using detail::size_class;
using detail::slice_bytes;

/// Sizes up to an eighth of a slice are those of the heap. Above, a slice is cut into so many
/// pieces as go into it, so that every span is one slice.
inline constexpr std::size_t max_shared_bytes = slice_bytes / 8;
inline constexpr auto shared_classes =
    static_cast<std::uint32_t>(detail::class_of(max_shared_bytes));
inline constexpr std::uint32_t most_pieces = 6; // ... 2, of the classes above
inline constexpr std::uint32_t class_count = shared_classes + most_pieces - 1;
inline constexpr std::size_t max_small_bytes = slice_bytes / 2;

using kind = std::uint8_t;
inline constexpr kind no_kind = 0;
inline constexpr kind pair_kind = 1; // two words: blocks and granules have the same numbers
/// 1 ... class_count: blocks that may hold addresses anywhere; behind them, the same sizes without
/// addresses; behind these, the same sizes with a layout, whose address is in the last word, as in
/// large_typed.
inline constexpr kind first_atomic = class_count + 1;
inline constexpr kind first_typed = 2 * class_count + 1;
inline constexpr kind small_kinds = 3 * class_count + 1; // with no_kind
inline constexpr kind large = small_kinds;               // the first slice of a large block
inline constexpr kind large_atomic = small_kinds + 1;
inline constexpr kind large_typed = small_kinds + 2;
inline constexpr kind inside_large = small_kinds + 3; // any other slice of it

/// As much is zeroed at once as the processor's nearest cache has room for beside the program's
/// data.
inline constexpr std::size_t window_bytes = std::size_t{4} << 10;

struct kind_facts {
  std::uint32_t bytes = 0;
  std::uint32_t blocks = 0;         // of a slice
  std::uint32_t blocks_at_once = 0; // that a thread gets in one window
  bool atomic = false;
  std::uint64_t reciprocal = 0; // offset * reciprocal >> reciprocal_shift == offset / bytes
};

constexpr std::size_t class_bytes(std::uint32_t class_index) noexcept {
  if (class_index <= shared_classes) return detail::computed_class_bytes(class_index);
  const std::uint32_t pieces = most_pieces - (class_index - shared_classes - 1);
  return slice_bytes / pieces / granule_bytes * granule_bytes;
}

inline constexpr std::array<kind_facts, small_kinds> kind_table = [] {
  std::array<kind_facts, small_kinds> table{};
  for (std::uint32_t each = 1; each < small_kinds; ++each) {
    const std::size_t bytes = class_bytes((each - 1) % class_count + 1);
    table[each] = {
        .bytes = static_cast<std::uint32_t>(bytes),
        .blocks = static_cast<std::uint32_t>(slice_bytes / bytes),
        .blocks_at_once =
            static_cast<std::uint32_t>(bytes < window_bytes ? window_bytes / bytes : 1),
        .atomic = each >= first_atomic && each < first_typed,
        .reciprocal = ((std::uint64_t{1} << detail::reciprocal_shift) + bytes - 1) / bytes};
  }
  return table;
}();

constexpr std::uint32_t block_at(const kind_facts& facts, std::size_t offset) noexcept {
  return static_cast<std::uint32_t>((offset * facts.reciprocal) >> detail::reciprocal_shift);
}

/// Returns: the kind of small blocks of `size_bytes`. Requires: at most max_small_bytes.
constexpr kind kind_of(std::size_t size_bytes, bool atomic) noexcept {
  expects(size_bytes <= max_small_bytes, "the block is a small one");
  std::uint32_t class_index = shared_classes;
  if (size_bytes <= max_shared_bytes) {
    class_index = static_cast<std::uint32_t>(detail::class_of(size_bytes));
  } else {
    while (class_bytes(class_index) < size_bytes) ++class_index;
  }
  return static_cast<kind>(atomic ? class_index + class_count : class_index);
}

/// Returns: the kind of small blocks of `size_bytes`, their last word included, that have a layout.
/// Requires: at most max_small_bytes.
constexpr kind typed_kind_of(std::size_t size_bytes) noexcept {
  expects(size_bytes <= max_small_bytes, "the block is a small one");
  return static_cast<kind>(kind_of(size_bytes, false) + first_typed - 1);
}

constexpr bool is_typed(kind block_kind) noexcept {
  return (block_kind >= first_typed && block_kind < small_kinds) || block_kind == large_typed;
}

/// Returns: how many bytes at the end of a block of the kind hold the address of its layout.
constexpr std::size_t layout_bytes(kind block_kind) noexcept {
  return is_typed(block_kind) ? sizeof(void*) : 0;
}

/// Returns: how many blocks a slice has that is the first of its span. Requires: not inside_large.
constexpr std::uint32_t blocks_of(kind block_kind) noexcept {
  expects(block_kind != inside_large, "the slice is the first of its span");
  return block_kind < small_kinds ? kind_table[block_kind].blocks : 1;
}

static_assert(inside_large < 256);
static_assert(kind_table[pair_kind].bytes == granule_bytes);
static_assert(kind_table[class_count].bytes == max_small_bytes);
static_assert(kind_table[shared_classes].bytes == max_shared_bytes);
static_assert(
    [] {
      for (std::uint32_t each = 1; each <= class_count; ++each) {
        const kind_facts& facts = kind_table[each];
        for (std::uint32_t block = 0; block < facts.blocks; ++block) {
          const std::size_t first = std::size_t{block} * facts.bytes;
          if (block_at(facts, first) != block) return false;
          if (block_at(facts, first + facts.bytes - 1) != block) return false;
        }
      }
      return true;
    }(),
    "dividing by multiplying is exact in every span");

} // namespace heapwise::gc
