// Wakes a thread whose ring was full. It lies in the memory that the thread and the drain share.
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/futex.hpp"

namespace heapwise::bench {

class room_alarm {
 public:
  /// Whether a thread waits. For tests: the answer may be an old one.
  [[nodiscard]] bool is_waited_for() const noexcept {
    return wanted_.load(std::memory_order_relaxed) != nobody;
  }

  /// How often a thread was woken. For tests.
  [[nodiscard]] std::uint32_t calls() const noexcept {
    return calls_.load(std::memory_order_relaxed);
  }

  /// The thread waits this time at most, until `read` has reached `wanted`, or until a signal.
  /// Requires that `wanted` is not 0. Does not change errno. If the thread is killed meanwhile, the
  /// drain may wake the next one in the slot once in vain.
  void wait(const std::atomic<std::uint64_t>& read, std::uint64_t wanted,
            long nanoseconds) noexcept {
    const std::uint32_t calls = calls_.load(std::memory_order_relaxed);
    // seq_cst, as in tell_read(): one of both sees what the other one has stored.
    wanted_.store(wanted, std::memory_order_seq_cst);
    if (read.load(std::memory_order_seq_cst) < wanted) wait_for_wake(calls_, calls, nanoseconds);
    wanted_.store(nobody, std::memory_order_relaxed);
  }

  /// The drain stores in `read` how many events it has read, and wakes the thread if it waits for
  /// them. Release: with the writer's acquire, so that it overwrites only what has been read.
  void tell_read(std::atomic<std::uint64_t>& read, std::uint64_t events) noexcept {
    read.store(events, std::memory_order_seq_cst);
    const std::uint64_t wanted = wanted_.load(std::memory_order_seq_cst);
    if (wanted == nobody || events < wanted) return;
    // Once for each wait. If the thread has begun another wait meanwhile, it looks and waits again.
    if (wanted_.exchange(nobody, std::memory_order_relaxed) == nobody) return;
    calls_.fetch_add(1, std::memory_order_relaxed);
    wake_one(calls_);
  }

 private:
  static constexpr std::uint64_t nobody = 0; ///< as a new file is

  /// How many events are to be read before the thread goes on.
  std::atomic<std::uint64_t> wanted_{nobody};
  std::atomic<std::uint32_t> calls_{0}; ///< what the futex compares
};

} // namespace heapwise::bench
