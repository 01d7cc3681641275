// The command line of heapwise-launch.
#pragma once

#include <sys/types.h>

#include "kernel/cpu_list.hpp"

namespace heapwise::bench {

struct launch_options {
  double timeout_s = 0; ///< 0: no timeout
  const char* stdin_path = "/dev/null";
  const char* stdout_path = nullptr;
  const char* stderr_path = nullptr;
  const char* directory = nullptr;
  const char* result_path = nullptr; ///< null: the launcher's own stdout
  bool watch_names = false;          ///< which names the program changes is looked at (calls/)
  const char* own_folder = nullptr; ///< names in it are of this program alone; null: no such folder
  bool pass_stdout = false;         ///< the program writes to the launcher's own stdout
  bool pinned = false;
  cpu_list cpus;
  int memory_moments = 0; ///< the most that the memory curve keeps; 0: it does not look
  int starter = -1;       ///< a socket that says when the program starts (starter.hpp); -1: at once
  std::uint64_t slice_ns = 0; ///< of the processor that the program asks for; 0: the kernel's own
  pid_t attached = 0;       ///< not 0: nothing is started, and the memory of this one is looked at
  char** program = nullptr; ///< null-terminated, the program first
  char** environment = nullptr; ///< null-terminated; what the program gets
};

/// Reads the command line; on a mistake says what, why and what next on stderr and returns false.
/// `argv` and `inherited` must outlive `options`.
bool read_launch_options(int argc, char** argv, char** inherited, launch_options& options);

} // namespace heapwise::bench
