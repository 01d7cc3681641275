// libheapwise-probe.so: says from inside a process which library its malloc comes from.
//
// Preloaded after the allocator. Its constructor appends one line to HEAPWISE_PROBE_OUT with one
// write(2), so that lines of processes that start together do not mix. After that it acts only when
// the process starts another program, see exec.cpp.
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "kernel/cpu_list.hpp"
#include "line/json_line.hpp"
#include "probe/provider.hpp"
#include "probe/report_file.hpp"

namespace heapwise::bench {
namespace {

// Static: the stack of an unknown process is not ours to fill.
char line_buffer[32768];
provider malloc_provider;
provider free_provider;
provider new_provider;
char own_path[PATH_MAX];

void write_identity(json_line& line) noexcept {
  find_provider("malloc", malloc_provider);
  find_provider("free", free_provider);
  find_provider("_Znwm", new_provider);
  read_own_path(own_path);
  const char* preload = std::getenv("LD_PRELOAD");
  line.open('{').field("pid", static_cast<int>(getpid())).field("exe", own_path);
  malloc_provider.write(line.key("malloc"));
  free_provider.write(line.key("free"));
  new_provider.write(line.key("new"));
  line.field("preload", preload != nullptr ? preload : "");
  cpu_list::of_this_thread().write(line.key("affinity"));
  line.field("count", 1).close('}').end_of_line(); // the launcher counts equal lines
}

__attribute__((constructor)) void report_identity() noexcept {
  if (!report.remember(probe_variables)) return;
  const int saved_errno = errno;
  json_line line{line_buffer, sizeof line_buffer};
  write_identity(line);
  report.append(line.text());
  errno = saved_errno;
}

} // namespace
} // namespace heapwise::bench
