// Starting the program: a process group of its own, and nothing of the launcher's inherited.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "launcher/calls/call_watch.hpp"
#include "launcher/memory/control_group.hpp"
#include "launcher/start/handed_files.hpp"
#include "launcher/start/options.hpp"

namespace heapwise::bench {

struct started_child {
  pid_t pid = -1;
  int error = 0;     ///< errno of the step that failed; then there is no child
  cpu_list affinity; ///< read back in the child, just before exec
  bool in_own_group = false;
  std::uint64_t entering_ns = 0;     ///< that it took to get into that control group
  std::int64_t slice_ns = -1;        ///< that it was given; -1: it did not ask, or not known
  const char* not_watched = nullptr; ///< why its calls are not watched
  int stdout_pipe = -1; ///< reading end, not blocking; -1 also when stdout is passed on
  int stderr_pipe = -1;
};

/// vfork shares the launcher's small memory until exec, so that the kernel's high-water mark of the
/// child starts at the launcher's size and not at that of the process that started the launcher.
/// If a control group was made for the child, it enters that first.
started_child start_child(const launch_options& options, const handed_files& files,
                          const control_group& group, const call_watch& calls);

} // namespace heapwise::bench
