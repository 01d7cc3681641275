// Figures that several experiments of the family give, always under the same name and unit.
#pragma once

#include <cstdint>
#include <string>

#include "harness/experiment.hpp"
#include "harness/memory/resident.hpp"

namespace heaps {

inline constexpr heapwise::bench::quantity peak_resident{
    "peak_resident", "bytes", heapwise::bench::better::lower,
    "the most memory that was resident at once, above what was before the first allocation"};

inline void set_peak(heapwise::bench::sample& the_sample, heapwise::bench::resident_meter& meter) {
  the_sample.set("peak_resident", static_cast<double>(meter.peak()));
}

inline double ratio(std::uint64_t above, std::uint64_t below) {
  return static_cast<double>(above) / static_cast<double>(below);
}

/// Millions of operations in a second.
inline double mops(std::uint64_t operations, std::uint64_t elapsed_ns) {
  return 1e3 * ratio(operations, elapsed_ns);
}

} // namespace heaps
