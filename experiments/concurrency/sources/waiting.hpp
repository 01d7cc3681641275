// How a thread waits for another one without the kernel's help.
#pragma once

#include <sched.h>

#include <cstdint>

#include "kernel/pause.hpp"

namespace concurrency {

/// Looks between which the processor is given away: at once where the other thread cannot run
/// otherwise, else only when something foreign must be in its place.
enum class patience : std::uint32_t { none = 1, crowded = 64, apart = 1u << 16 };

[[nodiscard]] constexpr patience patience_of(int threads, std::size_t processors) noexcept {
  return static_cast<std::size_t>(threads) > processors ? patience::crowded : patience::apart;
}

/// What happens between two looks.
class waiter {
 public:
  explicit waiter(patience looks, int pauses = 1) noexcept
      : looks_{static_cast<std::uint32_t>(looks)}, pauses_{pauses} {}

  [[gnu::always_inline]] void wait() noexcept {
    for (int i = 0; i < pauses_; ++i) heapwise::bench::pause();
    if (++waited_ < looks_) return;
    waited_ = 0;
    sched_yield();
  }

  template <class Condition>
  [[gnu::always_inline]] void until(Condition&& holds) noexcept {
    while (!holds()) wait();
  }

 private:
  std::uint32_t looks_;
  std::uint32_t waited_ = 0;
  int pauses_;
};

} // namespace concurrency
