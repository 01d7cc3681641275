// A small number for each thread, to spread threads over shards.
#pragma once

#include <atomic>

namespace heapwise::detail::inline v0_2 {

/// Returns: 0 for the first thread that asks, 1 for the second, and so on; the same for every call
/// of a thread. Thread safety: all.
inline unsigned thread_ordinal() noexcept {
  static constinit std::atomic<unsigned> next{0};
  // Relaxed: only distinctness matters, nothing is published with it.
  thread_local const unsigned mine = next.fetch_add(1, std::memory_order_relaxed);
  return mine;
}

} // namespace heapwise::detail::inline v0_2
