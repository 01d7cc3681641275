// The pool that everybody writes once: a list of free blocks, linked through the blocks; and what
// is done to it when there are threads.
#pragma once

#include <cstddef>
#include <mutex>

#include "harness/memory/mapped_array.hpp"
#include "workload/plain_list.hpp"

namespace memory {

class plain_pool {
 public:
  plain_pool(std::size_t block_bytes, std::size_t block_count)
      : memory_{block_bytes * block_count} {
    free_.add(memory_.data(), block_bytes, block_count);
  }

  /// nullptr when no block is left.
  [[gnu::always_inline]] void* allocate() { return free_.pop(); }
  [[gnu::always_inline]] void deallocate(void* block) { free_.push(block); }

 private:
  heapwise::bench::mapped_array<std::byte> memory_;
  heapwise::bench::plain_list free_;
};

class locked_pool {
 public:
  locked_pool(std::size_t block_bytes, std::size_t block_count) : pool_{block_bytes, block_count} {}

  void* allocate() {
    const std::scoped_lock hold{mutex_};
    return pool_.allocate();
  }
  void deallocate(void* block) {
    const std::scoped_lock hold{mutex_};
    pool_.deallocate(block);
  }

 private:
  std::mutex mutex_;
  plain_pool pool_;
};

} // namespace memory
