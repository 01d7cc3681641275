// The choices of an adaptor whose pool is exhausted.
#pragma once

namespace heapwise::inline v0_1 {

/// How an adaptor answers a request while its pool is exhausted.
enum class when_exhausted : unsigned char {
  throws, ///< std::bad_alloc
  spills, ///< what would fit into a block comes from elsewhere too, until blocks are free again
};

} // namespace heapwise::inline v0_1
