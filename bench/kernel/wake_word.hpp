// A word on which one thread sleeps until another one wakes it.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>

namespace heapwise::bench {

/// Each thread has one of its own, so that exactly the thread that may go on is woken.
class alignas(64) wake_word {
 public:
  /// Sleeps until wake() is called, and not at all if `is_due()` is true already. May return
  /// early, so the caller asks again. Only one thread at a time may sleep here.
  ///
  /// `is_due` loads with memory_order_seq_cst what the other thread stores with it before wake().
  template <class Condition>
  void sleep_unless(Condition&& is_due) noexcept {
    // seq_cst: either is_due() sees the other thread's store, or wake() sees this one.
    asleep_.store(1, std::memory_order_seq_cst);
    if (!is_due()) call(FUTEX_WAIT_PRIVATE, 1);
    asleep_.store(0, std::memory_order_relaxed);
  }

  /// Costs a load if nobody sleeps here.
  void wake() noexcept {
    // seq_cst: with sleep_unless().
    if (asleep_.load(std::memory_order_seq_cst) == 0) return;
    asleep_.store(0, std::memory_order_relaxed);
    call(FUTEX_WAKE_PRIVATE, 1);
  }

 private:
  void call(int operation, std::uint32_t number) noexcept {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&asleep_), operation, number, nullptr,
            nullptr, 0);
  }

  std::atomic<std::uint32_t> asleep_{0};
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
};

} // namespace heapwise::bench
