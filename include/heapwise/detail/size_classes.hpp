// The sizes that small requests are rounded up to, and the arithmetic between sizes and classes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwise::detail {

/// Every block is aligned to this many bytes, and every size is a multiple of it.
inline constexpr std::size_t granule_bytes = 16;

/// What the heap takes and gives in one piece: a run of pages that holds blocks of one class.
inline constexpr std::size_t slice_bytes = std::size_t{64} << 10;

/// Blocks above this size are large: they get slices of their own.
inline constexpr std::size_t max_small_bytes = std::size_t{32} << 10;

using size_class = std::uint32_t;

/// No class: the address is not in a small block of the general heap.
inline constexpr size_class no_class = 0;

/// The bytes of the classes from the first on. Up to 1 KiB, the steps of an octave are equal. A
/// class that is used for a few blocks has pages of its own, so there are few classes where blocks
/// are small, and a span wastes little of them. Above, an octave has eight classes, and two rules.
/// The first class has room for its power of two with a header of 16 bytes: such blocks are
/// frequent. From 4 to 16 KiB, 15, 14, ... 10, 9 and 8 blocks fill a span of one slice (up to 8
/// KiB) or of two, except where that would spoil an alignment: sizes are multiples of 64 bytes, and
/// 6, 7 and 8 KiB are classes (docs/design/heap.md#size-classes).
inline constexpr std::array<std::uint16_t, 56> class_sizes{
    16,   32,   48,   64,   80,   96,    112,   128,   160,   192,   224,   256,   320,   384,
    448,  512,  640,  768,  896,  1024,  1040,  1152,  1280,  1408,  1536,  1664,  1792,  2048,
    2112, 2304, 2560, 2816, 3072, 3328,  3584,  4096,  4368,  4672,  4992,  5440,  5888,  6144,
    7168, 8192, 8736, 9344, 9984, 10880, 11776, 12288, 14336, 16384, 20480, 24576, 28672, 32768};

/// Classes are 1 ... class_count.
inline constexpr size_class class_count = class_sizes.size();

/// What blocks in mixed spans have for a class until somebody asks for the real one: caches collect
/// them like blocks of a class, and hand none out.
inline constexpr size_class mixed_class = class_count + 1;
inline constexpr size_class class_slots = class_count + 2;
inline constexpr std::uint32_t mixed_batch = 64;

/// Returns: the bytes of a block of the class. Requires: 1 <= of <= class_count.
constexpr std::size_t computed_class_bytes(size_class class_index) noexcept {
  return class_sizes[class_index - 1];
}

inline constexpr unsigned reciprocal_shift = 40;

struct class_facts {
  std::uint32_t bytes = 0;
  std::uint32_t batch = 0;      // blocks that move between a thread's cache and a bin at once
  std::uint32_t slices = 0;     // of a span
  std::uint32_t blocks = 0;     // of a span
  std::uint64_t reciprocal = 0; // offset * reciprocal >> reciprocal_shift == offset / bytes
};

/// A batch is this large, except for the smallest and the largest blocks.
inline constexpr std::size_t batch_bytes = std::size_t{32} << 10;
inline constexpr std::size_t max_batch = 126; // on paper a batch has two words more
inline constexpr std::size_t min_batch = 2;

/// Small spans for small blocks, so that survivors pin little; 8 blocks or more in each.
constexpr std::uint32_t span_slices(std::size_t bytes) noexcept {
  std::uint32_t slices = 1;
  while (slices * slice_bytes / bytes < 8) slices *= 2;
  return slices;
}
inline constexpr std::size_t max_span_slices = span_slices(max_small_bytes);

constexpr class_facts make_class_facts(size_class class_index) noexcept {
  const std::size_t bytes = computed_class_bytes(class_index);
  const std::size_t wanted = batch_bytes / bytes;
  const std::size_t batch = wanted > max_batch   ? max_batch
                            : wanted < min_batch ? min_batch
                                                 : wanted;
  const std::size_t slices = span_slices(bytes);
  return {.bytes = static_cast<std::uint32_t>(bytes),
          .batch = static_cast<std::uint32_t>(batch),
          .slices = static_cast<std::uint32_t>(slices),
          .blocks = static_cast<std::uint32_t>(slices * slice_bytes / bytes),
          .reciprocal = ((std::uint64_t{1} << reciprocal_shift) + bytes - 1) / bytes};
}

inline constexpr std::array<class_facts, class_slots> class_table = [] {
  std::array<class_facts, class_slots> table{};
  for (size_class each = 1; each <= class_count; ++each) table[each] = make_class_facts(each);
  table[mixed_class].batch = mixed_batch;
  return table;
}();

/// The class of every number of granules; 0 bytes are one granule.
inline constexpr std::array<std::uint8_t, max_small_bytes / granule_bytes + 1> class_of_granules =
    [] {
      std::array<std::uint8_t, max_small_bytes / granule_bytes + 1> table{};
      size_class each = 1;
      for (std::size_t granules = 0; granules < table.size(); ++granules) {
        while (computed_class_bytes(each) < granules * granule_bytes) ++each;
        table[granules] = static_cast<std::uint8_t>(each);
      }
      return table;
    }();

/// How blocks of a class are aligned: spans start at a slice, so a block is as aligned as its size.
inline constexpr std::array<std::uint16_t, class_slots> class_alignment = [] {
  std::array<std::uint16_t, class_slots> table{};
  for (size_class each = 1; each <= class_count; ++each) {
    const std::size_t bytes = computed_class_bytes(each);
    table[each] = static_cast<std::uint16_t>(bytes & -bytes);
  }
  return table;
}();

/// Returns: the smallest class that holds `size_bytes`. Requires: at most max_small_bytes.
constexpr std::size_t class_of(std::size_t size_bytes) noexcept {
  return class_of_granules[(size_bytes + granule_bytes - 1) / granule_bytes];
}

/// Returns: the smallest class whose blocks hold `size_bytes` and are aligned to `alignment`.
/// Requires: both at most max_small_bytes, and `alignment` is a power of two.
constexpr std::size_t aligned_class_of(std::size_t size_bytes, std::size_t alignment) noexcept {
  // Such blocks are multiples of the alignment, so the search begins at the next multiple. It
  // hardly ever goes on there, which the processor predicts for sizes at random too.
  std::size_t class_index = class_of((size_bytes + alignment - 1) & ~(alignment - 1));
  while (class_alignment[class_index] < alignment) ++class_index;
  return class_index;
}

/// Returns: the number of the block that holds the byte at `offset` of a span of the class.
constexpr std::uint32_t block_at(size_class class_index, std::size_t offset) noexcept {
  return static_cast<std::uint32_t>((offset * class_table[class_index].reciprocal) >>
                                    reciprocal_shift);
}

static_assert(class_table[class_count].bytes == max_small_bytes);
static_assert(class_slots <= 256, "a class fits the byte that a slice keeps of it");
static_assert(slice_bytes / granule_bytes <= 4096, "a span's blocks fit its map");
static_assert(
    [] {
      for (size_class each = 1; each <= class_count; ++each) {
        const class_facts& facts = class_table[each];
        for (std::uint32_t block = 0; block < facts.blocks; ++block) {
          const std::size_t first = std::size_t{block} * facts.bytes;
          if (block_at(each, first) != block) return false;
          if (block_at(each, first + facts.bytes - 1) != block) return false;
        }
      }
      return true;
    }(),
    "dividing by multiplying is exact in every span");

} // namespace heapwise::detail
