// What the probe wrote in all processes of the program, with equal lines counted.
#pragma once

#include "line/json_line.hpp"

namespace heapwise::bench {

/// A build starts one compiler thousands of times. Its processes write the same line except for the
/// process number, so one line with a count says as much. A line about an exec is needed only if
/// the new program was silent.
class probe_lines {
 public:
  /// Effects: reads the probe's lines in `path` and writes each different line of a process once,
  /// with its count. To be called when the program has ended. Errors: a file that cannot be read
  /// stays as it is, and nothing is known of it.
  static probe_lines compact(const char* path);

  /// Writes an object, or null if there was no file.
  void write(json_line& line) const;

 private:
  class reader;

  static constexpr std::size_t most_lost = 20;

  struct lost_exec {
    char text[1024]; ///< the members "target" and "preload" as the probe wrote them
    std::size_t count;
  };

  bool known_ = false;
  bool cut_ = false;           ///< the file reached its limit, so lines are missing
  std::size_t processes_ = 0;  ///< program starts that the probe saw from inside
  std::size_t omitted_ = 0;    ///< of these, those whose line was left out: too many differ
  std::size_t execs_ = 0;      ///< that succeeded, or were not seen to fail
  std::size_t lost_ = 0;       ///< of these, those in whose program the probe was silent
  std::size_t lost_kinds_ = 0; ///< how many of lost_execs_ are used
  lost_exec lost_execs_[most_lost] = {};
};

} // namespace heapwise::bench
