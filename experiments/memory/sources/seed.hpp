// The seed, and the unit of its figures.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/experiment.hpp"

namespace memory {

inline constexpr const char* seed = "002_6e019959cd8b368d.txt";
inline constexpr const char* seed_machine = "Apple Silicon, 8 cores (seed 002)";

inline constexpr heapwise::bench::quantity throughput{
    "throughput", "M/s", heapwise::bench::better::higher,
    "millions of allocations and frees in a second, each counted as one"};

inline heapwise::bench::seed_figure of_seed(
    std::string_view subject, double figure,
    std::vector<std::pair<std::string_view, heapwise::bench::value>> parameters = {}) {
  return {subject, "throughput", std::move(parameters), figure, "M/s", seed_machine};
}

} // namespace memory
