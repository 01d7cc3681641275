// Parts of the heap that serve a few threads each, so that a lock or a line is shared by few
// threads at a time. Memory that waits for the threads of one part is of no use to others. So a
// thread keeps the part that it begins with, and there are no more parts than threads
// (docs/design/heap.md#shards).
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwise::detail {

inline constexpr std::size_t most_shards = 32;

extern std::atomic<std::size_t> the_shard_count;

/// Effects: from now on there may be as many shards as the options say, or as the processors need
/// that this process may use. There never become fewer. Requires: the lock of the start.
void choose_shards() noexcept;

/// Returns: how many shards there may be.
[[nodiscard]] std::size_t possible_shards() noexcept;

/// Returns: how many shards are in use. Relaxed: a shard that was never used is empty, and a thread
/// that does not know of it uses another one.
[[nodiscard]] inline std::size_t shard_count() noexcept {
  return the_shard_count.load(std::memory_order_relaxed);
}

/// Returns: a shard for a thread that begins: one that has no thread, or the one with the fewest.
/// It may not be in use yet. Thread safety: all.
[[nodiscard]] std::uint8_t join_shard() noexcept;

/// Returns: whether more than one thread has joined a shard. Relaxed: threads begin and end
/// meanwhile. Thread safety: all.
[[nodiscard]] bool has_several_threads() noexcept;

/// Effects: no shard has a thread. Thread safety: for the only thread of a process.
void forget_threads_of_shards() noexcept;

/// Effects: the shard has a thread more. Thread safety: all.
void join_shard_again(std::uint8_t shard) noexcept;

/// Effects: the shard has a thread less. Thread safety: all.
void leave_shard(std::uint8_t shard) noexcept;

} // namespace heapwise::detail
