// A turn that two threads have alternately.
#pragma once

#include <atomic>
#include <cstdint>

#include "kernel/clock.hpp"
#include "sources/waiting.hpp"

namespace concurrency {

// A baton has a number, from 0: `pass` changes it and tells the other thread, `wait_while` waits
// until it is another than `old` and returns it. The release of the one pairs with the acquire of
// the other: the thread that has the turn sees all that was done in the turns before.

/// Looks again and again, with this many pauses and this much patience.
template <patience Looks, int Pauses>
class spin_baton {
 public:
  void pass(std::uint32_t number) noexcept { number_.store(number, std::memory_order_release); }
  std::uint32_t wait_while(std::uint32_t old) noexcept {
    waiter waiting{Looks, Pauses};
    std::uint32_t now = old;
    waiting.until([&] { return (now = number_.load(std::memory_order_acquire)) != old; });
    return now;
  }

 private:
  alignas(64) std::atomic<std::uint32_t> number_{0};
};

inline constexpr std::uint32_t closed_baton = UINT32_MAX;

/// Odd numbers are the leader's, even ones the follower's; returns the hand-overs of both.
template <class Baton>
std::uint32_t lead(Baton& baton, std::uint64_t until_ns) {
  constexpr std::uint32_t between_looks = 64;
  std::uint32_t number = 0;
  do {
    for (std::uint32_t turn = 0; turn < between_looks; ++turn) {
      baton.pass(number + 1);
      number = baton.wait_while(number + 1);
    }
  } while (heapwise::bench::now_ns() < until_ns);
  baton.pass(closed_baton);
  return number;
}

/// Answers until the leader closes the baton; returns how often.
template <class Baton>
std::uint32_t follow(Baton& baton) {
  std::uint32_t number = 0;
  std::uint32_t turns = 0;
  while ((number = baton.wait_while(number)) != closed_baton) {
    baton.pass(++number);
    ++turns;
  }
  return turns;
}

} // namespace concurrency
