// How long the drain waits between two looks at the rings.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

namespace heapwise::bench {

class pause_length {
 public:
  /// After fewer calls it waits: each look takes the lines of counters from the threads that write
  /// to them, and a processor from a program that has a thread for each.
  static constexpr std::uint64_t few_calls = 8192;
  static constexpr long shortest_ns = 500'000;
  /// A thread that does nothing but call fills its ring in about this time.
  static constexpr long longest_ns = 2'000'000;
  /// A ring of samples fills slowly, and the drain is to take no time from the program.
  static constexpr long profile_ns = 50'000'000;

  explicit pause_length(bool is_profile) noexcept
      : least_{is_profile ? profile_ns : shortest_ns},
        most_{is_profile ? profile_ns : longest_ns},
        next_{least_} {}

  /// In nanoseconds, after a look that has found this many calls. 0: it is to look again.
  [[nodiscard]] long after(std::uint64_t calls) noexcept {
    if (calls >= few_calls / 2) next_ = least_;
    if (calls >= few_calls) return 0;
    return std::exchange(next_, std::min(2 * next_, most_));
  }

 private:
  long least_;
  long most_;
  long next_;
};

} // namespace heapwise::bench
