// Were all blocks blocks, and different ones?
#pragma once

#include <cstddef>
#include <span>

#include "harness/experiment.hpp"
#include "harness/memory/distinct.hpp"

namespace pools {

/// Returns: how many different blocks there are. Only repeats that are inspected are counted: to
/// sort the blocks of each repeat would take longer than what is measured.
inline std::size_t count_served(const heapwise::bench::cell& the_cell,
                                const heapwise::bench::sample& the_sample,
                                std::span<void* const> blocks) {
  return the_cell.inspects(the_sample) ? heapwise::bench::count_distinct(blocks) : blocks.size();
}

} // namespace pools
