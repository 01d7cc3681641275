// What the forwarding functions of the counting probe share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/next_malloc.hpp"
#include "probe/tally.hpp"

namespace heapwise::bench {

extern tally counted;

/// Bytes that the allocator behind the probe reserves for `block`; 0 for a null pointer, for a block
/// that it does not own, and if it cannot tell.
inline std::int64_t bytes_of(void* block) noexcept {
  if (block == nullptr || early.owns(block)) return 0;
  auto* next = next_usable_size.get();
  return next != nullptr ? static_cast<std::int64_t>(next(block)) : 0;
}

/// Counts the bytes of a block that the program gets. Returns: the block.
inline void* counted_live(void* block) noexcept {
  counted.change_live(bytes_of(block));
  return block;
}

/// Writes the line of this process, once; does nothing in a child of vfork.
void report_counts() noexcept;

} // namespace heapwise::bench
