// How much work makes up a region of a wanted length, where subjects differ by factors of
// thousands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "kernel/clock.hpp"

namespace heapwise::bench {

/// Calls `work(count)` with ever larger counts, and returns the count that takes about `wanted_ns`;
/// at least `least`. Not for timed regions.
template <class Work>
std::size_t count_that_fills(std::uint64_t wanted_ns, std::size_t least, Work&& work) {
  constexpr std::uint64_t share = 4; // of what is wanted: enough to go by, and soon over
  for (std::size_t count = least;; count *= 2) {
    const std::uint64_t start_ns = now_ns();
    work(count);
    const std::uint64_t took_ns = now_ns() - start_ns;
    if (took_ns * share < wanted_ns) continue;
    const double times =
        static_cast<double>(wanted_ns) / static_cast<double>(std::max<std::uint64_t>(took_ns, 1));
    return std::max(least, static_cast<std::size_t>(static_cast<double>(count) * times));
  }
}

} // namespace heapwise::bench
