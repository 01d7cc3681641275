// The processors that the program may use, looked at before and after it ran.
#pragma once

#include <cstdint>

#include "kernel/cpu_list.hpp"
#include "line/json_line.hpp"

namespace heapwise::bench {

/// How fast each of them is (spin.hpp), and whether something shares its core (breadth.hpp).
class processors {
 public:
  /// `cpus`: those that the program is given; those of the launcher if it is given none. Of more
  /// than `most` some are chosen, at equal distances.
  explicit processors(const cpu_list& cpus);

  /// Effects: visits each and takes both times, then goes back to where this thread may run.
  /// Complexity: about 2 ms on few processors, at most 6 ms.
  void look_before() { look(&place::spin_before_ns, &place::breadth_before_ns); }
  void look_after() { look(&place::spin_after_ns, &place::breadth_after_ns); }

  /// The least spin of all that were visited. 0 before the visit.
  [[nodiscard]] std::uint64_t spin_before_ns() const { return least(&place::spin_before_ns); }
  [[nodiscard]] std::uint64_t spin_after_ns() const { return least(&place::spin_after_ns); }

  /// Writes a list of those that were visited twice.
  void write(json_line& line) const;

 private:
  static constexpr int most = 16;

  struct place {
    unsigned cpu = 0;
    std::uint64_t spin_before_ns = 0; ///< 0: it could not be visited
    std::uint64_t spin_after_ns = 0;
    std::uint64_t breadth_before_ns = 0;
    std::uint64_t breadth_after_ns = 0;
  };
  using time = std::uint64_t place::*;

  void look(time spin, time breadth);
  [[nodiscard]] std::uint64_t least(time which) const;

  int count_ = 0;
  place places_[most];
};

} // namespace heapwise::bench
