// What the experiments of the family have in common: their units and durations.
#pragma once

#include <cstdint>
#include <string_view>

#include "harness/experiment.hpp"

namespace concurrency {

/// Throughput in millions a second, as the report latency-lab gives it.
constexpr heapwise::bench::quantity throughput(std::string_view meaning) {
  return {"throughput", "M/s", heapwise::bench::better::higher, meaning};
}

[[nodiscard]] inline double millions_per_second(std::uint64_t operations,
                                                std::uint64_t elapsed_ns) noexcept {
  return 1e3 * static_cast<double>(operations) / static_cast<double>(elapsed_ns);
}

/// How long each thread works in one repeat. Time is what is fixed, not the number of operations:
/// threads that share something unfairly would leave the last of them to finish alone.
inline heapwise::bench::parameter duration(std::int64_t milliseconds) {
  return {
      "duration", "how long the threads work in a repeat", {milliseconds}, {std::int64_t{1}}, "ms"};
}

[[nodiscard]] inline std::uint64_t duration_ns(const heapwise::bench::cell& the_cell) {
  return static_cast<std::uint64_t>(the_cell.integer("duration")) * 1'000'000;
}

} // namespace concurrency
