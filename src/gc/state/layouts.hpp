// Which words of a block may hold addresses, or the function of the program that knows. A block of
// a typed kind has the address of its layout in its last word.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "gc/base/exported.hpp"
#include "heapwise/detail/config.hpp"

/// What follows it in memory: `count` numbers of words of an element.
struct heapwise_gc_layout {
  std::size_t element_words; // after which it begins again
  std::size_t count;
  heapwise_gc_mark_function* function; // instead of words, if it is not nullptr
  void* argument;

  [[nodiscard]] const std::size_t* words() const noexcept {
    return reinterpret_cast<const std::size_t*>(this + 1);
  }
};

namespace heapwise::gc {

using layout = heapwise_gc_layout;

/// Returns: a layout, nullptr with errno set: see heapwise_gc_make_layout.
[[nodiscard]] const layout* make_layout(std::size_t element_bytes, const std::size_t* offsets,
                                        std::size_t count) noexcept;

/// Returns: a layout, nullptr with errno set: see heapwise_gc_make_marked_layout.
[[nodiscard]] const layout* make_marked_layout(heapwise_gc_mark_function* function,
                                               void* argument) noexcept;

/// Returns: the layout whose address is in the word, the last one of a typed block.
HEAPWISE_READS_ANYTHING inline const layout* layout_at(const void* word) noexcept {
  const layout* its = nullptr;
  std::memcpy(&its, word, sizeof its);
  return its;
}

/// Effects: the last word of a typed block has the address of its layout, or of none.
inline void write_layout(std::byte* at, const layout* its) noexcept {
  std::memcpy(at, &its, sizeof its);
  // A fence for this thread alone: a signal may stop it anywhere, and its block is looked at then.
  std::atomic_signal_fence(std::memory_order_seq_cst);
}

} // namespace heapwise::gc
