// A calibrated spin: a fixed chain of dependent instructions whose time says how fast the processor
// runs just now. Where no cpufreq is to be seen (most virtual machines) it is the only witness.
#pragma once

#include <cstdint>

#include "kernel/clock.hpp"

namespace heapwise::bench {

/// Nanoseconds of one chain: `steps` rounds of xorshift (Marsaglia 2003), each waiting for the
/// last.
[[nodiscard]] inline std::uint64_t spin_once_ns(int steps) noexcept {
  std::uint64_t state = 0x9e3779b97f4a7c15U;
  const std::uint64_t start = now_ns();
  for (int step = 0; step < steps; ++step) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
  }
  asm volatile("" : : "r"(state));
  return now_ns() - start;
}

/// The least of several short spins: an interrupt or a stolen slice lengthens some, a lower clock
/// all.
[[nodiscard]] inline std::uint64_t calibrated_spin_ns(int spins) noexcept {
  constexpr int steps = 40'000; // 6 cycles each: about 80 microseconds at 3 GHz
  std::uint64_t least = UINT64_MAX;
  for (int spin = 0; spin < spins; ++spin) {
    const std::uint64_t took = spin_once_ns(steps);
    if (took < least) least = took;
  }
  return least;
}

/// Keeps the processor busy for this time, by the measuring clock itself.
inline void spin_for_ns(double nanoseconds) noexcept {
  const std::uint64_t start = now_ns();
  while (static_cast<double>(now_ns() - start) < nanoseconds) {
  }
}

} // namespace heapwise::bench
