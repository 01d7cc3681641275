// libheapwise-count.so: counts the allocation calls of a process that is not timed.
//
// Preloaded before the allocator, it forwards every call to the next definition in the loader's
// order and appends one line to HEAPWISE_COUNT_OUT when the process ends by exit or _exit.
#include "probe/count.hpp"

#include <pthread.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/clock.hpp"
#include "line/json_line.hpp"
#include "probe/next.hpp"
#include "probe/next_malloc.hpp"
#include "probe/provider.hpp"
#include "probe/report_file.hpp"

namespace heapwise::bench {

constinit tally counted;

namespace {

constinit std::atomic<bool> reported{false};
constinit std::atomic<int> owner{0};
std::uint64_t started_ns = 0;
char line_buffer[16384];
/// Read at the start: a program may allow itself no such call at its end (a filter by seccomp).
char own_path[PATH_MAX];

void write_calls(json_line& line, const totals& all) noexcept {
  line.key("calls").open('{');
  line.field("malloc", all.malloc).field("calloc", all.calloc).field("realloc", all.realloc);
  line.field("free", all.free).field("aligned", all.aligned).close('}');
}

void write_sizes(json_line& line, const totals& all) noexcept {
  int used = totals::size_buckets;
  while (used > 0 && all.sizes[used - 1] == 0) --used;
  line.key("sizes").open('[');
  for (int i = 0; i < used; ++i) line.value(all.sizes[i]);
  line.close(']');
}

} // namespace

void report_counts() noexcept {
  // A child of vfork runs in its parent's memory: what is counted there is not its own.
  if (!report.remembered() || owner.load(std::memory_order_relaxed) != getpid()) return;
  if (reported.exchange(true, std::memory_order_relaxed)) return;
  const int saved_errno = errno;
  const totals all = counted.sum();
  json_line line{line_buffer, sizeof line_buffer};
  line.open('{').field("pid", static_cast<int>(getpid())).field("exe", own_path);
  write_calls(line, all);
  line.field("bytes_requested", all.bytes_requested).field("peak_live", all.peak_live);
  line.field("wall_s", static_cast<double>(now_ns() - started_ns) * 1e-9);
  write_sizes(line, all);
  line.close('}').end_of_line();
  report.append(line.text());
  errno = saved_errno;
}

namespace {

void begin() noexcept {
  owner.store(getpid(), std::memory_order_relaxed);
  started_ns = now_ns();
}

void begin_forked_child() noexcept {
  counted.clear();
  reported.store(false, std::memory_order_relaxed);
  begin();
}

__attribute__((constructor)) void begin_process() noexcept {
  if (!report.remember(count_variables)) report.remember(probe_variables);
  read_own_path(own_path);
  begin();
  find_next_malloc();
  pthread_atfork(nullptr, nullptr, begin_forked_child);
}

__attribute__((destructor)) void end_process() noexcept { report_counts(); }

} // namespace
} // namespace heapwise::bench

extern "C" {

// Programs that leave by _exit run no destructor, so the line is written here.
__attribute__((noreturn)) void _exit(int status) {
  using function = void(int);
  static constinit heapwise::bench::next_function<function> next{"_exit"};
  heapwise::bench::report_counts();
  next.get()(status);
  __builtin_trap();
}

__attribute__((noreturn)) void _Exit(int status) { _exit(status); }
}
