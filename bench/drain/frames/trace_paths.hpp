// The names of the traces of one recording.
#pragma once

#include <sys/types.h>

#include <string>
#include <unordered_map>

namespace heapwise::bench {

class trace_paths {
 public:
  explicit trace_paths(const std::string& first);

  /// FIRST.PID.hwt for FIRST.hwt; with a number behind the PID if it was in use before.
  [[nodiscard]] std::string of_child(pid_t process);

 private:
  std::string stem_;
  std::string ending_;
  std::unordered_map<pid_t, unsigned> used_;
};

} // namespace heapwise::bench
