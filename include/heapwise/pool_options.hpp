// The options of a pool.
#pragma once

#include <cstddef>

namespace heapwise::inline v0_1 {

/// How a pool that has no free block gets more: one thread at a time obtains a chunk from the
/// source. If the source has no room for it, half as many blocks are tried, down to about a page of
/// them.
enum class growth : unsigned char {
  fixed,     ///< not at all
  geometric, ///< by chunks that double the capacity
  linear,    ///< by chunks of pool_options::growth_step blocks
  custom,    ///< by chunks of as many blocks as pool_options::next_blocks says
};

/// Returns: how many blocks the next chunk of a pool that has `capacity` blocks should have; 0: the
/// pool does not grow this time. `context` is pool_options::growth_context.
/// Called by one thread at a time, in the middle of an allocation: it must not use the pool.
using next_blocks_function = std::size_t (*)(std::size_t capacity, void* context) noexcept;

/// The options of a pool. A pool refuses nonsense when it is created:
/// std::invalid_argument for a block size or count of 0, an alignment that is not a power of two, a
/// max_block_count below block_count or growth::custom without next_blocks,
/// std::length_error for sizes whose product overflows or exceeds PTRDIFF_MAX,
/// std::bad_alloc if the source refuses the first chunk.
struct pool_options {
  /// Bytes that the user may write to in each block.
  std::size_t block_size = 0;
  /// Blocks of the first chunk. With growth::fixed, the capacity.
  std::size_t block_count = 0;
  /// A power of two; 0 means natural: the largest one that divides block_size, up to that of
  /// std::max_align_t.
  std::size_t alignment = 0;
  heapwise::growth growth = heapwise::growth::fixed;
  /// The capacity beyond which a growing pool does not grow; 0 means no limit but the policy's own
  /// (2^32 - 2 blocks).
  std::size_t max_block_count = 0;
  /// With growth::linear, the blocks of each further chunk; 0 means block_count. A pool finds the
  /// chunk of a block in O(chunks), so few large chunks are faster than many small ones.
  std::size_t growth_step = 0;
  /// With growth::custom.
  next_blocks_function next_blocks = nullptr;
  void* growth_context = nullptr;
};

} // namespace heapwise::inline v0_1
