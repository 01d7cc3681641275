// Does somebody share this core? A chain of instructions that wait for each other (spin.hpp) leaves
// most of a core idle, and hardly notices a neighbour on its other hardware thread. Eight chains
// side by side want all of it: beside a neighbour they take a tenth to two thirds more time.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/clock.hpp"

namespace heapwise::bench {

/// Nanoseconds of `steps` rounds of eight independent chains of eight additions each.
[[nodiscard]] inline std::uint64_t breadth_once_ns(int steps) noexcept {
  constexpr int links = 8;
  std::uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8; // one register each
  const std::uint64_t start = now_ns();
  for (int step = 0; step < steps; ++step) {
#pragma GCC unroll 8
    for (int link = 0; link < links; ++link) {
      // Opaque, so that additions are neither folded nor made of vectors.
      asm volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
      ++a, ++b, ++c, ++d, ++e, ++f, ++g, ++h;
    }
  }
  asm volatile("" : : "r"(a ^ b ^ c ^ d ^ e ^ f ^ g ^ h));
  return now_ns() - start;
}

/// Waits for moments in which the core is ours.
class quiet_core {
 public:
  /// `least_ns` is the least breadth known from before, 0 for none; `patience_ns` is for all waits
  /// together.
  quiet_core(std::uint64_t least_ns, std::uint64_t patience_ns) noexcept
      : least_ns_{least_ns == 0 ? UINT64_MAX : least_ns}, patience_ns_{patience_ns} {}

  /// Returns: the breadth at the end of the wait, in nanoseconds.
  std::uint64_t wait() noexcept {
    const std::uint64_t start = now_ns();
    std::uint64_t took = look();
    while (crowded(took) && now_ns() - start < patience_ns_) took = look();
    patience_ns_ -= std::min(now_ns() - start, patience_ns_);
    return took;
  }

  /// Returns: the breadth now; an interrupt is not a neighbour, so the better of two looks.
  std::uint64_t look() noexcept {
    constexpr int steps = 8'000; // 16 cycles each on a core of four adders: 40 microseconds
    const std::uint64_t took = std::min(breadth_once_ns(steps), breadth_once_ns(steps));
    least_ns_ = std::min(least_ns_, took);
    return took;
  }

 private:
  /// 3 % above the least; the analysis has the same bound (evidence/kept.py).
  [[nodiscard]] bool crowded(std::uint64_t took) const noexcept {
    return took > least_ns_ + least_ns_ * 3 / 100;
  }

  std::uint64_t least_ns_;
  std::uint64_t patience_ns_;
};

} // namespace heapwise::bench
