#include "launcher/start/time_slice.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwise::bench {
namespace {

/// struct sched_attr of linux/sched/types.h, which older headers lack; sched_setattr(2).
struct scheduling {
  std::uint32_t size = sizeof(scheduling);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t slice_ns = 0; ///< "runtime": of a normal thread its slice, 0: the kernel's own
  std::uint64_t deadline_ns = 0;
  std::uint64_t period_ns = 0;
};

bool read(scheduling& now) { return syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0; }

} // namespace

std::int64_t take_time_slices(std::uint64_t wanted_ns) {
  scheduling now;
  if (!read(now) || (now.policy != SCHED_OTHER && now.policy != SCHED_BATCH)) return -1;
  now.slice_ns = wanted_ns;
  if (syscall(SYS_sched_setattr, 0, &now, 0) != 0 || !read(now)) return -1;
  return static_cast<std::int64_t>(now.slice_ns);
}

} // namespace heapwise::bench
