// libheapwise-probe.so: says from inside a process which library its malloc comes from.
//
// Preloaded after the allocator. Its constructor appends one line to HEAPWISE_PROBE_OUT with one
// write(2), so that lines of processes that start together do not mix, and then does nothing more.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "kernel/cpu_list.hpp"
#include "line/json_line.hpp"
#include "probe/provider.hpp"

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
  line.close('}').end_of_line();
}

__attribute__((constructor)) void report_identity() noexcept {
  const char* path = std::getenv("HEAPWISE_PROBE_OUT");
  if (path == nullptr || path[0] == '\0') return;
  const int saved_errno = errno;
  json_line line{line_buffer, sizeof line_buffer};
  write_identity(line);
  const int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);
  if (file >= 0) {
    const auto text = line.text();
    // A line that is cut or lost is seen by its reader: it finds no whole line for this process.
    [[maybe_unused]] const auto written = write(file, text.data(), text.size());
    close(file);
  }
  errno = saved_errno;
}

} // namespace
} // namespace heapwise::bench
