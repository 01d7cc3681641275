// Free blocks of one size, each with a link to the next one.
#pragma once

#include <cstddef>

namespace heapwise::detail::hybrids {

/// A last-in-first-out chain through the first word of each free block. It is the simplest possible
/// list, as in the allocator that the hybrid follows. Thread safety: none.
struct block_chain {
  void* head = nullptr;
  void* tail = nullptr;
  std::size_t count = 0;

  void push(void* block) noexcept {
    *static_cast<void**>(block) = head;
    if (head == nullptr) tail = block;
    head = block;
    ++count;
  }

  /// Effects: takes out up to `wanted` blocks and writes them to `into`. Returns: how many blocks
  /// it took out.
  std::size_t take(void** into, std::size_t wanted) noexcept {
    std::size_t taken = 0;
    for (; taken < wanted && head != nullptr; ++taken) {
      into[taken] = head;
      head = *static_cast<void**>(head);
    }
    count -= taken;
    if (head == nullptr) tail = nullptr;
    return taken;
  }

  /// Effects: puts the blocks of another chain in front. Complexity: O(1).
  void prepend(const block_chain& other) noexcept {
    if (other.head == nullptr) return;
    *static_cast<void**>(other.tail) = head;
    if (head == nullptr) tail = other.tail;
    head = other.head;
    count += other.count;
  }
};

} // namespace heapwise::detail::hybrids
