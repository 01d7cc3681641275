// Parts of the heap that serve a few processors each, so that a lock or a line is shared by few
// threads at a time. On a machine with few processors there is one of each: memory that waits for
// the threads of one part is of no use to others (docs/decisions/0056).
#pragma once

#include <atomic>
#include <cstddef>

namespace heapwise::detail {

inline constexpr std::size_t most_shards = 32;

extern std::atomic<std::size_t> the_shard_count;

/// Effects: from now on there are as many shards as the options say, or as the processors need that
/// this process may use. There never become fewer. Requires: the lock of the start.
void choose_shards() noexcept;

/// Returns: how many shards are in use. Relaxed: a shard that was never used is empty, and a thread
/// that does not know of it uses another one.
[[nodiscard]] inline std::size_t shard_count() noexcept {
  return the_shard_count.load(std::memory_order_relaxed);
}

/// Returns: the shard of the processor that the thread runs on. It may run elsewhere a moment
/// later. Requires: a thread of the C library.
[[nodiscard]] std::size_t shard_of_processor() noexcept;

[[nodiscard]] inline std::size_t own_shard() noexcept {
  return shard_count() == 1 ? 0 : shard_of_processor();
}

} // namespace heapwise::detail
