// A list of free blocks and nothing else: the least that a pool can cost.
#pragma once

#include <cstddef>
#include <new>

#include "sources/chunk_memory.hpp"
#include "sources/demand.hpp"
#include "workload/plain_list.hpp"

namespace pools {

/// All blocks are linked through themselves when it is made. It never grows and checks nothing.
class bare_list {
 public:
  explicit bare_list(const demand& wanted) : bytes_{wanted.block_size * wanted.block_count} {
    memory_ = static_cast<std::byte*>(chunk_source().allocate(bytes_, alignof(std::max_align_t)));
    if (memory_ == nullptr) throw std::bad_alloc{};
    free_.add(memory_, wanted.block_size, wanted.block_count);
  }
  bare_list(const bare_list&) = delete;
  bare_list& operator=(const bare_list&) = delete;
  ~bare_list() { chunk_source().deallocate(memory_, bytes_, alignof(std::max_align_t)); }

  [[gnu::always_inline]] void* allocate() { return free_.pop(); }
  [[gnu::always_inline]] void deallocate(void* block) { free_.push(block); }

 private:
  std::size_t bytes_;
  std::byte* memory_;
  heapwise::bench::plain_list free_;
};

} // namespace pools
