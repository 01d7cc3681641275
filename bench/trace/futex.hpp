// Waiting for a word in memory that processes share (futex(2)). Neither function changes errno.
#pragma once

#include <linux/futex.h>
#include <time.h>

#include <atomic>
#include <cstdint>

#include "trace/kernel.hpp"

namespace heapwise::bench {

/// Waits if the word is `seen`: this time at most, until a wake, or until a signal.
inline void wait_for_wake(std::atomic<std::uint32_t>& word, std::uint32_t seen,
                          long nanoseconds) noexcept {
  constexpr long second_ns = 1'000'000'000;
  const timespec pause{nanoseconds / second_ns, nanoseconds % second_ns};
  kernel::futex(&word, FUTEX_WAIT, static_cast<long>(seen), &pause);
}

/// Wakes one that waits, if any.
inline void wake_one(std::atomic<std::uint32_t>& word) noexcept {
  constexpr long one = 1;
  kernel::futex(&word, FUTEX_WAKE, one, nullptr);
}

} // namespace heapwise::bench
