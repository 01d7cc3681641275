// Wakes the drain. It lies in the memory that recorded processes and the drain share.
//
// A futex, since a recorded process may be of another user, may have no file of the drain left, and
// may be allowed few system calls.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace heapwise::bench {

class drain_alarm {
 public:
  /// Whether the drain waits. For tests: the answer may be an old one.
  [[nodiscard]] bool waits() const noexcept { return waits_.load(std::memory_order_relaxed); }

  /// For wait(). To be asked before the drain looks for something to do.
  [[nodiscard]] std::uint32_t calls() const noexcept {
    return calls_.load(std::memory_order_relaxed);
  }

  /// Ends the wait of the drain, if it waits. Without an order: a thread whose call comes just
  /// before a wait calls again, with the next part of its ring. Does not change errno.
  void call() noexcept {
    if (!waits_.load(std::memory_order_relaxed)) return;
    if (!waits_.exchange(false, std::memory_order_relaxed)) return; // another thread has called
    count_call();
    constexpr long one = 1;
    futex(FUTEX_WAKE, one, nullptr);
  }

  /// In a handler of a signal, which ends the wait itself: a wait that is about to begin ends, too.
  void count_call() noexcept { calls_.fetch_add(1, std::memory_order_relaxed); }

  /// Waits this time at most, or until a call since `calls`, or a signal.
  void wait(std::uint32_t calls, long nanoseconds) noexcept {
    constexpr long second_ns = 1'000'000'000;
    const timespec pause{nanoseconds / second_ns, nanoseconds % second_ns};
    waits_.store(true, std::memory_order_relaxed);
    futex(FUTEX_WAIT, static_cast<long>(calls), &pause);
    waits_.store(false, std::memory_order_relaxed);
  }

 private:
  void futex(int operation, long value, const timespec* pause) noexcept {
    const int saved_errno = errno;
    syscall(SYS_futex, &calls_, operation, value, pause, nullptr, 0L);
    errno = saved_errno;
  }

  alignas(64) std::atomic<std::uint32_t> calls_{0}; ///< what the futex compares
  std::atomic<bool> waits_{false};
};

} // namespace heapwise::bench
