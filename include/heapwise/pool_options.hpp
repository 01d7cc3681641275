// What a pool is asked to be.
#pragma once

#include <cstddef>

namespace heapwise::inline v0_1 {

/// How a pool that has no free block gets more: not at all, or by chunks that double its capacity
/// (smaller ones if the source has no room for such a chunk), obtained by one thread at a time.
enum class growth : unsigned char { fixed, geometric };

/// The options of a pool. A pool refuses nonsense when it is created:
/// std::invalid_argument for a block size or count of 0, an alignment that is no power of two or a
/// max_block_count below block_count,
/// std::length_error for sizes whose product overflows or exceeds PTRDIFF_MAX,
/// std::bad_alloc if the first chunk cannot be had.
struct pool_options {
  /// Bytes that the user may write to in each block.
  std::size_t block_size = 0;
  /// Blocks of the first chunk. With growth::fixed, the capacity.
  std::size_t block_count = 0;
  /// A power of two; 0 means natural: the largest one that divides block_size, up to that of
  /// std::max_align_t.
  std::size_t alignment = 0;
  heapwise::growth growth = heapwise::growth::fixed;
  /// With growth::geometric, the capacity beyond which the pool does not grow; 0 means no limit
  /// but the policy's own (2^32 - 2 blocks).
  std::size_t max_block_count = 0;
};

} // namespace heapwise::inline v0_1
