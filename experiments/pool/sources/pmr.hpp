// The pool resources of the standard library.
#pragma once

#include <memory_resource>

#include "sources/chunk_memory.hpp"
#include "sources/demand.hpp"

namespace pools {

/// Chunks grow on their own; nothing can be reserved, so a fixed size is only a limit on chunks.
template <class Resource>
class pmr_blocks {
 public:
  explicit pmr_blocks(const demand& wanted)
      : resource_{std::pmr::pool_options{.max_blocks_per_chunk = wanted.block_count,
                                         .largest_required_pool_block = wanted.block_size},
                  chunk_resource()},
        block_size_{wanted.block_size} {}

  [[gnu::always_inline]] void* allocate() { return resource_.allocate(block_size_, alignment); }
  [[gnu::always_inline]] void deallocate(void* block) {
    resource_.deallocate(block, block_size_, alignment);
  }

 private:
  static constexpr std::size_t alignment = alignof(void*);

  Resource resource_;
  std::size_t block_size_;
};

using pmr_unsynchronized = pmr_blocks<std::pmr::unsynchronized_pool_resource>;
using pmr_synchronized = pmr_blocks<std::pmr::synchronized_pool_resource>;

} // namespace pools
