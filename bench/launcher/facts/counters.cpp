#include "launcher/facts/counters.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace heapwise::bench {
namespace {

constexpr std::uint64_t dtlb_read_misses = PERF_COUNT_HW_CACHE_DTLB |
                                           (PERF_COUNT_HW_CACHE_OP_READ << 8) |
                                           (PERF_COUNT_HW_CACHE_RESULT_MISS << 16);

struct counter {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
  bool in_kernel; ///< the event itself happens in the kernel: without it nothing would be counted
};

constexpr counter known[] = {
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, false},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, false},
    {"dtlb_misses", PERF_TYPE_HW_CACHE, dtlb_read_misses, false},
    {"page_faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, false},
    {"context_switches", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, true},
    {"migrations", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, true},
};

/// Opened for the launcher itself, which never executes anything: its child inherits the counter,
/// and `enable_on_exec` starts it there.
int open_counter(const counter& each, bool with_kernel) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = each.type;
  attributes.config = each.config;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.enable_on_exec = 1;
  attributes.exclude_kernel = with_kernel ? 0 : 1;
  attributes.exclude_hv = 1;
  constexpr int this_process = 0;
  constexpr int every_processor = -1;
  constexpr int no_group = -1;
  return static_cast<int>(syscall(SYS_perf_event_open, &attributes, this_process, every_processor,
                                  no_group, PERF_FLAG_FD_CLOEXEC));
}

/// In words that tell what to do.
const char* reason(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
      return "the processor or the virtual machine does not offer it";
    case EACCES:
    case EPERM:
      return "not allowed, see /proc/sys/kernel/perf_event_paranoid";
    case ENOSYS:
      return "the kernel has no counters";
    default:
      return std::strerror(error);
  }
}

} // namespace

counters::counters() {
  static_assert(sizeof known / sizeof known[0] == count);
  for (int i = 0; i < count; ++i) open(i);
}

counters::~counters() {
  for (const state& each : states_) {
    if (each.file >= 0) close(each.file);
  }
}

void counters::open(int index) {
  state& opened = states_[index];
  opened.file = open_counter(known[index], true);
  if (opened.file < 0 && (errno == EACCES || errno == EPERM) && !known[index].in_kernel) {
    opened.kernel = false;
    opened.file = open_counter(known[index], false);
  }
  if (opened.file < 0) add_missing(known[index].name, reason(errno));
}

/// One sentence: names with the same reason stand together.
void counters::add_missing(const char* name, const char* why) {
  const std::size_t used = std::strlen(missing_);
  const std::size_t length = std::strlen(why);
  const bool same = used > length && std::strcmp(missing_ + used - length, why) == 0;
  if (same) {
    std::snprintf(missing_ + used - length - 2, sizeof missing_ - used + length + 2, ", %s: %s",
                  name, why);
  } else {
    std::snprintf(missing_ + used, sizeof missing_ - used, "%s%s: %s", used == 0 ? "" : "; ", name,
                  why);
  }
}

void counters::stop() {
  for (state& each : states_) {
    std::uint64_t read_values[3]; // in the order of read_format
    if (each.file < 0 || read(each.file, read_values, sizeof read_values) != sizeof read_values) {
      continue;
    }
    each.known = true;
    each.value = read_values[0];
    each.enabled_ns = read_values[1];
    each.running_ns = read_values[2];
  }
}

void counters::write(json_line& line) const {
  line.open('[');
  for (int i = 0; i < count; ++i) {
    const state& each = states_[i];
    if (!each.known) continue;
    line.open('{').field("name", known[i].name).field("value", each.value);
    line.field("enabled_ns", each.enabled_ns).field("running_ns", each.running_ns);
    line.field("kernel", each.kernel).close('}');
  }
  line.close(']');
}

} // namespace heapwise::bench
