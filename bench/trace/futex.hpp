// Waiting for a word in memory that processes share (futex(2)). Neither function changes errno.
#pragma once

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>

namespace heapwise::bench {

inline void call_futex(std::atomic<std::uint32_t>& word, int operation, long value,
                       const timespec* pause) noexcept {
  const int saved_errno = errno;
  syscall(SYS_futex, &word, operation, value, pause, nullptr, 0L);
  errno = saved_errno;
}

/// Waits if the word is `seen`: this time at most, until a wake, or until a signal.
inline void wait_for_wake(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                          long nanoseconds) noexcept {
  constexpr long second_ns = 1'000'000'000;
  const timespec pause{nanoseconds / second_ns, nanoseconds % second_ns};
  call_futex(word, FUTEX_WAIT, static_cast<long>(seen), &pause);
}

/// Wakes one that waits, if any.
inline void wake_one(std::atomic<std::uint32_t>& word) noexcept {
  constexpr long one = 1;
  call_futex(word, FUTEX_WAKE, one, nullptr);
}

} // namespace heapwise::bench
