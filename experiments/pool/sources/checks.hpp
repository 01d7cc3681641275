// Were all blocks blocks, and different ones?
#pragma once

#include <cstddef>
#include <span>

#include "harness/distinct.hpp"
#include "harness/experiment.hpp"

namespace pools {

/// Returns: how many different blocks there are. Only repeats that are inspected are counted: to
/// sort the blocks of each repeat would take longer than what is measured.
inline std::size_t count_served(const heapwise::bench::cell& given,
                                const heapwise::bench::sample& yields,
                                std::span<void* const> blocks) {
  return given.inspects(yields) ? heapwise::bench::count_distinct(blocks) : blocks.size();
}

} // namespace pools
