// Whether a process has ended, for processes that are not our children, too.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>

namespace heapwise::bench {

class process_end {
 public:
  /// `start_time` tells the process from a later one with its number; 0 if it is not known.
  process_end(pid_t process, std::uint64_t start_time);
  ~process_end();
  process_end(const process_end&) = delete;
  process_end& operator=(const process_end&) = delete;

  /// True from the moment on at which the last thread has ended, reaped or not.
  [[nodiscard]] bool has_come() const;

  /// Returns after this time, or when one of the processes ends.
  static void wait(std::span<const process_end* const> ends, long nanoseconds);

 private:
  pid_t process_;
  int file_; ///< of the process; -1 if the kernel gave none
  bool was_gone_ = false;
};

} // namespace heapwise::bench
