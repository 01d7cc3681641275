// The cheapest clock that orders what it surrounds: for single calls, which last no longer than the
// reading of the system's clock.
#pragma once

#include <cstdint>
#include <numeric>

#include "kernel/clock.hpp"

namespace heapwise::bench {

/// In units of its own, see tick_scale. On x86 the time stamp counter, which runs at one rate on
/// all processors that the kernel trusts it on; elsewhere the system's clock.
[[nodiscard, gnu::always_inline]] inline std::uint64_t now_ticks() noexcept {
#if defined(__x86_64__)
  // lfence: what stands before has ended when the counter is read (Intel SDM, RDTSC).
  __builtin_ia32_lfence();
  return __builtin_ia32_rdtsc();
#else
  return now_ns();
#endif
}

/// By how many ticks the counter goes on at once: some processors count at a tenth of a gigahertz
/// and multiply. What all of many differences are multiples of.
[[nodiscard]] inline std::uint64_t tick_step() noexcept {
  constexpr int readings = 1000;
  constexpr int longest_pause = 64;
  std::uint64_t step = 0;
  std::uint64_t last = now_ticks();
  for (int reading = 0; reading < readings; ++reading) {
    // Equal differences are multiples of more than a step.
    for (int pause = reading % longest_pause; pause > 0; --pause) __asm__ volatile("");
    const std::uint64_t next = now_ticks();
    step = std::gcd(step, next - last);
    last = next;
  }
  return step != 0 ? step : 1;
}

/// How long a tick is, learned from what passes on both clocks while it lives.
class tick_scale {
 public:
  tick_scale() noexcept : start_ns_{now_ns()}, start_ticks_{now_ticks()} {}

  /// To be asked after a millisecond or more: the clocks are not read at the same instant.
  [[nodiscard]] double ns_per_tick() const noexcept {
    const std::uint64_t ns = now_ns() - start_ns_;
    const std::uint64_t ticks = now_ticks() - start_ticks_;
    return static_cast<double>(ns) / static_cast<double>(ticks);
  }

 private:
  std::uint64_t start_ns_;
  std::uint64_t start_ticks_;
};

} // namespace heapwise::bench
