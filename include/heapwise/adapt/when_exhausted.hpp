// What an adaptor does if its pool is exhausted.
#pragma once

namespace heapwise::inline v0_2 {

/// How an adaptor answers a request while its pool is exhausted.
enum class when_exhausted : unsigned char {
  throws, ///< the adaptor throws std::bad_alloc
  spills, ///< a request that fits in a block is served from elsewhere, until blocks are free again
};

} // namespace heapwise::inline v0_2
