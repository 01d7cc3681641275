// How long the drain waits between two looks at the rings.
#pragma once

#include <cstdint>

#include "trace/shared.hpp"

namespace heapwise::bench {

/// Each look takes the lines of counters from the threads that write to them, and a processor from
/// a program that has a thread for each. A thread that has much to read calls: see drain_alarm.
inline constexpr long longest_pause_ns = 50'000'000;
/// While a ring has much that was too young to be read.
inline constexpr long shortest_pause_ns = 500'000;

/// In nanoseconds, after a look that has handed over this many calls. 0: it is to look again, since
/// about as many may have come meanwhile.
[[nodiscard]] constexpr long pause_after(std::uint64_t calls, bool has_left_much) noexcept {
  if (calls >= events_to_alarm) return 0;
  return has_left_much ? shortest_pause_ns : longest_pause_ns;
}

} // namespace heapwise::bench
