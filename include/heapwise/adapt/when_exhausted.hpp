// What an adaptor does if its pool is exhausted.
#pragma once

namespace heapwise::inline v0_1 {

/// What an adaptor does with a request that finds its pool exhausted.
enum class when_exhausted : unsigned char {
  throws, ///< std::bad_alloc
  spills, ///< what would fit into a block comes from elsewhere too, until blocks are free again
};

} // namespace heapwise::inline v0_1
