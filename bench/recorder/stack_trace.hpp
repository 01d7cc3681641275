// The functions that a thread is in.
#pragma once

#include <cstdint>

namespace heapwise::bench {

struct stack_trace {
  static constexpr int most_frames = 48;

  int count = 0;
  std::uint64_t frames[most_frames]; ///< return addresses, the caller first
};

/// The stack of this thread, from the function that `site` returns to. Empty if it cannot be
/// found. The unwinder may allocate and takes the loader's lock.
[[nodiscard]] stack_trace stack_from(std::uint64_t site) noexcept;

} // namespace heapwise::bench
