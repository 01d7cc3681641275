// The loop of pool/interleaved and pool/concurrent.
#pragma once

#include <cstddef>

#include "harness/escape.hpp"
#include "workload/block_use.hpp"

namespace pools {

/// Takes a block, uses it and gives it back, `count` times. One byte is written once, as in the
/// seeds: the block was written to a moment ago.
/// Returns: how often there was a block.
template <heapwise::bench::touching how, class Source>
[[gnu::always_inline]] inline std::size_t allocate_and_free(Source& source, std::size_t count,
                                                            std::size_t bytes) {
  using heapwise::bench::touching;
  std::size_t served = 0;
  for (std::size_t i = 0; i < count; ++i) {
    void* block = source.allocate();
    heapwise::bench::use_new<how>(block, bytes);
    heapwise::bench::escape(block);
    served += block != nullptr;
    if constexpr (how == touching::all) heapwise::bench::use_last<how>(block, bytes);
    source.deallocate(block);
    heapwise::bench::clobber();
  }
  return served;
}

} // namespace pools
