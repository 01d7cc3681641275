// The loop of pool/interleaved and pool/concurrent.
#pragma once

#include <cstddef>

#include "harness/escape.hpp"

namespace pools {

/// Takes a block, writes one byte of it and gives it back, `count` times.
/// Returns: how often there was a block.
template <class Source>
[[gnu::always_inline]] inline std::size_t allocate_and_free(Source& source, std::size_t count) {
  std::size_t served = 0;
  for (std::size_t i = 0; i < count; ++i) {
    void* block = source.allocate();
    heapwise::bench::touch(block);
    heapwise::bench::escape(block);
    served += block != nullptr;
    source.deallocate(block);
    heapwise::bench::clobber();
  }
  return served;
}

} // namespace pools
