// foonathan/memory's memory_pool, alone and with the library's own std::mutex adaptor.
//
// optional: FOONATHAN = package foonathan_memory target foonathan_memory
#pragma once

#include "sources/chunk_memory.hpp"
#include "sources/demand.hpp"

#if defined(HEAPWISE_HAS_FOONATHAN)
#include <foonathan/memory/allocator_storage.hpp>
#include <foonathan/memory/memory_pool.hpp>
#include <utility>

namespace pools {

class foonathan_blocks {
 public:
  explicit foonathan_blocks(const demand& wanted)
      : pool_{wanted.block_size, bytes_at_start(wanted)} {}

  [[gnu::always_inline]] void* allocate() { return pool_.allocate_node(); }
  [[gnu::always_inline]] void deallocate(void* block) { pool_.deallocate_node(block); }

  static std::size_t bytes_at_start(const demand& wanted) {
    return pool::min_block_size(wanted.block_size, wanted.at_start());
  }

 private:
  using pool = foonathan::memory::memory_pool<foonathan::memory::node_pool, foonathan_chunks>;
  pool pool_;
};

class foonathan_locked {
 public:
  explicit foonathan_locked(const demand& wanted)
      : block_size_{wanted.block_size},
        pool_{pool{wanted.block_size, foonathan_blocks::bytes_at_start(wanted)}} {}

  [[gnu::always_inline]] void* allocate() {
    return pool_.allocate_node(block_size_, alignof(void*));
  }
  [[gnu::always_inline]] void deallocate(void* block) {
    pool_.deallocate_node(block, block_size_, alignof(void*));
  }

 private:
  using pool = foonathan::memory::memory_pool<foonathan::memory::node_pool, foonathan_chunks>;
  std::size_t block_size_;
  foonathan::memory::thread_safe_allocator<pool> pool_;
};

} // namespace pools
#endif
