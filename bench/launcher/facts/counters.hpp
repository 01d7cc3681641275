// What the processor and the kernel count of the program and of all that it starts.
#pragma once

#include <cstdint>

#include "line/json_line.hpp"

namespace heapwise::bench {

/// Counters that begin when a child of this process executes a program, and go on in its
/// descendants. The processor's own where there are some; the kernel's everywhere.
class counters {
 public:
  /// Effects: opens them. To be called before the child starts. A counter that cannot be opened is
  /// left out.
  counters();
  counters(const counters&) = delete;
  counters& operator=(const counters&) = delete;
  ~counters();

  /// Effects: reads them, once, when the program has ended.
  void stop();

  /// Writes a list of those that were open.
  void write(json_line& line) const;

  /// Why others were not; nullptr if all were.
  [[nodiscard]] const char* missing() const { return missing_[0] == '\0' ? nullptr : missing_; }

 private:
  static constexpr int count = 6;

  struct state {
    int file = -1;
    bool kernel = true; ///< whether the kernel's work for the program is counted too
    bool known = false;
    std::uint64_t value = 0;
    std::uint64_t enabled_ns = 0;
    std::uint64_t running_ns = 0; ///< less than enabled_ns if counters took turns
  };

  void open(int index);
  void add_missing(const char* name, const char* reason);

  state states_[count];
  char missing_[256] = {};
};

} // namespace heapwise::bench
