// All free blocks of a pool.
#pragma once

#include <vector>

namespace stress {

/// Returns: the blocks that the pool gives until it has no more. They stay allocated.
template <class Pool>
std::vector<void*> drain(Pool& from) {
  std::vector<void*> blocks;
  while (void* const block = from.try_allocate()) blocks.push_back(block);
  return blocks;
}

} // namespace stress
