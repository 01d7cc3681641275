// Two threads that begin at the same instant, again and again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "kernel/ticks.hpp"

namespace concurrency {

inline constexpr std::size_t line_bytes = 64;

/// Lets two threads go at the same instant: each says when it arrived, and both leave some time
/// after the later of the two, so that neither is ahead by the way of a line between the cores.
class meeting {
 public:
  /// For round `round` (from 0, in order) of thread `self` (0 or 1); `late` more ticks for this
  /// thread alone. Returns the clock as the thread left.
  std::uint64_t wait(int self, std::uint64_t round, std::uint64_t late) noexcept {
    // By turns: the other thread may arrive for the next round before this one has looked.
    arrival& mine = threads_[self].by_turns[round % 2];
    const arrival& other = threads_[1 - self].by_turns[round % 2];
    std::uint64_t& wish = threads_[self].wish_ticks;
    const std::uint64_t now = stamped(heapwise::bench::now_ticks(), round);
    mine.ahead_ticks.store(wish, std::memory_order_relaxed); // published by the stamp
    // release: whatever this thread did in the last round comes before the next; pairs with the
    // other's acquire.
    mine.stamp.store(now, std::memory_order_release);
    std::uint64_t then = other.stamp.load(std::memory_order_acquire);
    while (!is_of(then, round)) then = other.stamp.load(std::memory_order_acquire);
    const std::uint64_t ahead = std::max(wish, other.ahead_ticks.load(std::memory_order_relaxed));
    const std::uint64_t start = std::max(now, then) + ahead;
    std::uint64_t left = heapwise::bench::now_ticks();
    learn(wish, left > start);
    while (left < start + late) left = heapwise::bench::now_ticks();
    return left;
  }

 private:
  /// An arrival needs its time to be seen by the other core, and on a virtual machine not always
  /// the same. So much that one round in sixty comes too late.
  static void learn(std::uint64_t& wish, bool too_late) noexcept {
    if (too_late && wish < most_ticks) wish += 64;
    if (!too_late && wish > least_ticks) --wish;
  }
  static constexpr std::uint64_t least_ticks = 128;
  static constexpr std::uint64_t most_ticks = 4096;

  /// The lowest bits say which of four rounds it is of; the clock is not needed that exactly.
  static std::uint64_t stamped(std::uint64_t ticks, std::uint64_t round) noexcept {
    return (ticks & ~std::uint64_t{3}) | (round / 2 + 1) % 4;
  }
  static bool is_of(std::uint64_t stamp, std::uint64_t round) noexcept {
    return stamp != 0 && stamp % 4 == (round / 2 + 1) % 4;
  }

  struct arrival {
    std::atomic<std::uint64_t> stamp{0};
    std::atomic<std::uint64_t> ahead_ticks{0};
  };
  struct alignas(line_bytes) thread {
    arrival by_turns[2];
    std::uint64_t wish_ticks = 512; ///< only its own thread looks at it
  };
  thread threads_[2];
};

} // namespace concurrency
