// What the forwarding functions of the counting probe share.
#pragma once

#include <cstddef>
#include <cstdint>

#include "probe/next_malloc.hpp"
#include "probe/tally.hpp"

namespace heapwise::bench {

extern tally counted;

/// Whether this thread asks for the bytes of a block. initial-exec: see tally.
__attribute__((tls_model("initial-exec"))) inline thread_local bool asks_for_bytes = false;

/// Bytes that the allocator behind the probe reserves for `block`; 0 for a null pointer, for a
/// block that it does not own, and if it cannot tell. gperftools allocates when it is asked for the
/// first time: those blocks have no bytes.
inline std::int64_t bytes_of(void* block) noexcept {
  if (block == nullptr || asks_for_bytes || early.owns(block)) return 0;
  auto* next = known_usable_size.get();
  if (next == nullptr) return 0;
  asks_for_bytes = true;
  const std::size_t bytes = next(block);
  asks_for_bytes = false;
  return static_cast<std::int64_t>(bytes);
}

/// Counts the bytes of a block that the program gets. Returns: the block.
inline void* counted_live(void* block) noexcept {
  counted.change_live(bytes_of(block));
  return block;
}

/// Writes the line of this process, once; does nothing in a child of vfork.
void report_counts() noexcept;

} // namespace heapwise::bench
