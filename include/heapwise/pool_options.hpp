// The options of a pool.
#pragma once

#include <cstddef>

#include <heapwise/standard.hpp>

namespace heapwise::inline v0_2 {

/// How a pool that has no free block gets more. One thread at a time obtains a chunk from the
/// source. If the source has no room for the chunk, the pool tries half as many blocks, down to
/// about a page of blocks.
enum class growth : unsigned char {
  fixed,     ///< the pool does not grow
  geometric, ///< by chunks that double the capacity
  linear,    ///< by chunks of pool_options::growth_step blocks
  custom,    ///< by chunks of as many blocks as pool_options::next_blocks returns
};

/// Returns: how many blocks the next chunk of a pool that has `capacity` blocks should have; 0 if
/// the pool should not grow this time. `context` is pool_options::growth_context.
/// One thread at a time calls it, in the middle of an allocation, so it must not use the pool.
using next_blocks_function = std::size_t (*)(std::size_t capacity, void* context) noexcept;

/// The options of a pool. The constructor of the pool refuses invalid options. It throws:
/// - std::invalid_argument for a block size or count of 0, an alignment that is not a power of two,
///   a max_block_count below block_count, or growth::custom without next_blocks;
/// - std::length_error for sizes whose product overflows or exceeds PTRDIFF_MAX;
/// - std::bad_alloc if the source refuses the first chunk.
struct pool_options {
  /// Bytes that the user may write to in each block.
  std::size_t block_size = 0;
  /// Blocks of the first chunk. With growth::fixed, the capacity.
  std::size_t block_count = 0;
  /// A power of two. 0 means natural: the largest power of two that divides block_size, but not
  /// more than the alignment of std::max_align_t.
  std::size_t alignment = 0;
  heapwise::growth growth = heapwise::growth::fixed;
  /// The capacity beyond which a growing pool does not grow. 0 means that only the limit of the
  /// policy (2^32 - 2 blocks) holds.
  std::size_t max_block_count = 0;
  /// With growth::linear, the number of blocks of each further chunk; 0 means block_count. A pool
  /// finds the chunk of a block in O(chunks), so few large chunks are faster than many small
  /// chunks.
  std::size_t growth_step = 0;
  /// With growth::custom, the function that returns how many blocks the next chunk has.
  next_blocks_function next_blocks = nullptr;
  void* growth_context = nullptr;
};

} // namespace heapwise::inline v0_2
