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
  tick_length() : start_ns_{now_ns()}, start_ticks_{stamp_now()} {}

  [[nodiscard]] double ns() const {
    const std::uint64_t ticks = stamp_now() - start_ticks_;
    return static_cast<double>(now_ns() - start_ns_) / static_cast<double>(ticks);
  }

  /// Ticks are divided by this power of two to get units of a file.
  [[nodiscard]] unsigned shift() const {
    const double tick_ns = ns();
    unsigned shift = 0;
    while (static_cast<double>(1U << shift) * tick_ns < least_unit_ns) ++shift;
    return shift;
  }

 private:
  std::uint64_t start_ns_;
  std::uint64_t start_ticks_;
};

} // namespace heapwise::bench
