// The length of a tick of the stamps, from what passes on both clocks.
#pragma once

#include <cstdint>

#include "kernel/clock.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {

/// Units of time in a file are at least this long: differences then need one byte.
inline constexpr double least_unit_ns = 10;

class tick_length {
 public:
  tick_length() : start_{read_both()} {}

  /// Since this was made.
  [[nodiscard]] std::uint64_t age_ns() const { return now_ns() - start_.ns; }

  [[nodiscard]] double ns() const {
    const both_clocks now = read_both();
    return static_cast<double>(now.ns - start_.ns) / static_cast<double>(now.ticks - start_.ticks);
  }

  /// Ticks are divided by this power of two to get units of a file.
  [[nodiscard]] unsigned shift() const {
    const double tick_ns = ns();
    unsigned shift = 0;
    while (static_cast<double>(1U << shift) * tick_ns < least_unit_ns) ++shift;
    return shift;
  }

 private:
  struct both_clocks {
    std::uint64_t ns;
    std::uint64_t ticks;
  };

  /// The thread may lose its processor between the clocks, so the closest of some readings counts.
  [[nodiscard]] static both_clocks read_both() {
    constexpr int readings = 8;
    both_clocks closest{};
    std::uint64_t least = UINT64_MAX;
    for (int i = 0; i != readings; ++i) {
      const std::uint64_t before = stamp_now();
      const std::uint64_t ns = now_ns();
      const std::uint64_t apart = stamp_now() - before;
      if (apart >= least) continue;
      least = apart;
      closest = {ns, before + apart / 2};
    }
    return closest;
  }

  both_clocks start_;
};

} // namespace heapwise::bench
