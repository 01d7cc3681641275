#include "drain/processes/process_end.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <vector>

#include "kernel/readiness.hpp"
#include "trace/process_identity.hpp"

namespace heapwise::bench {

process_end::process_end(pid_t process, std::uint64_t start_time)
    : process_{process}, file_{static_cast<int>(syscall(SYS_pidfd_open, process, 0))} {
  // Asked after the file was opened, so that the file is of the process that has this start time.
  const std::string stat = "/proc/" + std::to_string(process) + "/stat";
  was_gone_ = (file_ < 0 && errno == ESRCH) ||
              (start_time != 0 && start_time_of(stat.c_str()) != start_time);
}

process_end::~process_end() {
  if (file_ >= 0) close(file_);
}

bool process_end::has_come() const {
  if (was_gone_) return true;
  if (file_ < 0) return kill(process_, 0) != 0 && errno == ESRCH;
  pollfd end{file_, POLLIN, 0};
  return wait_until_ready({&end, 1}, 0) ? end.revents != 0
                                        : kill(process_, 0) != 0 && errno == ESRCH;
}

void process_end::wait(std::span<const process_end* const> ends, long nanoseconds) {
  std::vector<pollfd> files;
  files.reserve(ends.size());
  for (const process_end* each : ends) {
    files.push_back({each->file_, POLLIN, 0}); // poll does not look at a negative file
  }
  wait_until_ready(files, static_cast<std::uint64_t>(nanoseconds));
}

} // namespace heapwise::bench
