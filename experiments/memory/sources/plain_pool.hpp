// The pool that everybody writes once: a list of free blocks, linked through the blocks; and what
// is done to it when there are threads.
#pragma once

#include <cstddef>
#include <mutex>
#include <new>

#include "harness/mapped_array.hpp"

namespace memory {

class plain_pool {
 public:
  plain_pool(std::size_t block_bytes, std::size_t block_count)
      : memory_{block_bytes * block_count} {
    for (std::size_t i = block_count; i-- > 0;) deallocate(memory_.data() + i * block_bytes);
  }

  /// nullptr when no block is left.
  [[gnu::always_inline]] void* allocate() {
    link* const first = free_;
    if (first != nullptr) free_ = first->next;
    return first;
  }
  [[gnu::always_inline]] void deallocate(void* block) { free_ = ::new (block) link{free_}; }

 private:
  struct link {
    link* next;
  };

  heapwise::bench::mapped_array<std::byte> memory_;
  link* free_ = nullptr;
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
