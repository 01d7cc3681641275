// What an address is: a block, or what else.
#pragma once

#include <atomic>
#include <cstddef>

#include "heap/base/invalid.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/sealed_facts.hpp"
#include "heap/central/mixed.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Returns: the class of a small block of all threads, or no_class.
inline size_class small_class_of(const void* block) noexcept {
  const size_class class_index = the_facts.map.class_at(block);
  if (class_index != mixed_class) return class_index;
  // Acquire: pairs with the release in set_class. The classes of its blocks were written before.
  std::atomic_thread_fence(std::memory_order_acquire);
  return the_mixed_spans.class_of_block(block);
}

/// What an address that is not a small block of all threads stands for.
struct found {
  span* record = nullptr;
  slice_use use = slice_use::none;
  invalid why = invalid::foreign; // if it is not a block
};

[[nodiscard]] found look_up(const void* block) noexcept;

/// What is known of a block.
struct measured {
  std::size_t bytes = 0;         // that it may use; 0 if the address is not a block
  found what;                    // if it is not a small block of all threads
  owned_blocks* owner = nullptr; // the heap of its own that it belongs to
};

[[nodiscard]] measured measure(const void* block) noexcept;

} // namespace heapwise::detail
