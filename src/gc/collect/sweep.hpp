// What the marks say of each span: it is free for any use, waits for a thread, or is full.
#pragma once

#include <cstddef>

namespace heapwise::gc {

/// Of marked blocks. Atomic ones hold no addresses, and are not looked through.
struct live_sizes {
  std::size_t all_bytes = 0;
  std::size_t atomic_bytes = 0;
  std::size_t spare_bytes = 0; // for blocks all of whose bytes are used
};

/// Effects: no block is marked. Requires: the lock, for this and what follows.
void clear_marks() noexcept;

/// Effects: spans without a mark are free for any use; those with marks and room for more wait for
/// a thread. No block is touched. Returns: the bytes of marked blocks. Requires: `counted`: it is
/// known how many blocks of each slice are marked.
[[nodiscard]] live_sizes list_spans(bool counted) noexcept;

} // namespace heapwise::gc
