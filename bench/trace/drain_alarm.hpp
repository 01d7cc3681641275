// Wakes the drain. It lies in the memory that recorded processes and the drain share.
//
// A futex, since a recorded process may be of another user, may have no file of the drain left, and
// may be allowed few system calls.
#pragma once

#include <atomic>
#include <cstdint>

#include "trace/futex.hpp"

namespace heapwise::bench {

class drain_alarm {
 public:
  /// Whether the drain waits. For tests: the answer may be an old one.
  [[nodiscard]] bool waits() const noexcept { return waits_.load(std::memory_order_relaxed); }

  /// For wait(). To be asked before the drain looks for something to do.
  [[nodiscard]] std::uint32_t calls() const noexcept {
    // acquire: with call_surely(), so that a look after it sees what the thread has written.
    return calls_.load(std::memory_order_acquire);
  }

  /// Ends the wait of the drain, if it waits. Without an order: a thread whose call comes just
  /// before a wait calls again, with the next part of its ring. Does not change errno.
  void call() noexcept {
    if (!waits_.load(std::memory_order_relaxed)) return;
    if (!waits_.exchange(false, std::memory_order_relaxed)) return; // another thread has called
    count_call();
    wake_one(calls_);
  }

  /// The same for a thread that cannot go on, so its call must not be missed: a wait that is about
  /// to begin ends, too.
  void call_surely() noexcept {
    calls_.fetch_add(1, std::memory_order_release); // with calls()
    wake_one(calls_);
  }

  /// In a handler of a signal, which ends the wait itself: a wait that is about to begin ends, too.
  void count_call() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }

  /// Waits this time at most, or until a call since `calls`, or a signal.
  void wait(std::uint32_t calls, long nanoseconds) noexcept {
    waits_.store(true, std::memory_order_relaxed);
    wait_for_wake(calls_, calls, nanoseconds);
    waits_.store(false, std::memory_order_relaxed);
  }

 private:
  alignas(64) std::atomic<std::uint32_t> calls_{0}; ///< what the futex compares
  std::atomic<bool> waits_{false};
};

} // namespace heapwise::bench
