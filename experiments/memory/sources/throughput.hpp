// The quantity of the experiments with allocators.
#pragma once

#include "harness/experiment.hpp"

namespace memory {

inline constexpr heapwise::bench::quantity throughput{
    "throughput", "M/s", heapwise::bench::better::higher,
    "millions of allocations and frees in a second, each counted as one"};

} // namespace memory
