// The proof that blocks were blocks: how many different ones there are.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>

#include "harness/memory/mapped_array.hpp"

namespace heapwise::bench {

/// Null is not a block. Sorts a copy that is not on the heap under test; not for timed regions.
inline std::size_t count_distinct(std::span<void* const> blocks) {
  const mapped_array<void*> copy{blocks.size()};
  std::ranges::copy(blocks, copy.begin());
  std::sort(copy.begin(), copy.end(), std::less<>{});
  const auto end = std::unique(copy.begin(), copy.end());
  const auto distinct = static_cast<std::size_t>(end - copy.begin());
  return distinct != 0 && copy[0] == nullptr ? distinct - 1 : distinct;
}

} // namespace heapwise::bench
