// How often a limit of the control groups kept processes from their processors.
#pragma once

#include <cstdint>

namespace heapwise::bench {

struct throttling {
  std::int64_t periods = -1; ///< in which processes were stopped; -1: nothing is known
  std::int64_t time_us = -1; ///< that they were stopped

  /// Returns: the sums since the groups were made, over this process's own group and those above
  /// it: each may have a limit.
  static throttling now();

  /// Returns: what has been added since `before`.
  [[nodiscard]] throttling since(const throttling& before) const;
};

} // namespace heapwise::bench
