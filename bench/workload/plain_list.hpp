// A list of free blocks, linked through the blocks: the pool that everybody writes once.
#pragma once

#include <cstddef>
#include <new>

namespace heapwise::bench {

/// Checks nothing and owns no memory.
class plain_list {
 public:
  /// Effects: adds `count` neighbours, to be handed out in address order.
  void add(std::byte* first, std::size_t block_bytes, std::size_t count) {
    for (std::size_t i = count; i-- > 0;) push(first + i * block_bytes);
  }

  /// nullptr when no block is left.
  [[gnu::always_inline]] void* pop() {
    link* const first = free_;
    if (first != nullptr) free_ = first->next;
    return first;
  }
  [[gnu::always_inline]] void push(void* block) { free_ = ::new (block) link{free_}; }

 private:
  struct link {
    link* next;
  };

  link* free_ = nullptr;
};

} // namespace heapwise::bench
