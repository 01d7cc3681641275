// Numbers that a program cannot foresee, for the order in which blocks are handed out.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/os.hpp"

namespace heapwise::detail {

/// Returns: a number of this thread's sequence, below `limit`. Requires: 0 < limit < 2^32.
inline std::size_t random_below(std::size_t limit) noexcept {
  static __thread std::uint64_t state = 0;
  if (state == 0) state = os::random_word() | 1;
  state ^= state << 13; // xorshift (Marsaglia 2003)
  state ^= state >> 7;
  state ^= state << 17;
  constexpr unsigned half_word = 32;
  return (state >> half_word) * limit >> half_word;
}

} // namespace heapwise::detail
