// How much of the machine the process may use.
#pragma once

#include <cstddef>

namespace heapwise::os {

/// Returns: how many processors the control groups of the process let it use at once on average,
/// rounded up; SIZE_MAX if there is no limit, or none that can be read. Control groups of both
/// versions are asked. Reads some small files. Keeps errno. `groups` and `mount` are where they
/// are.
[[nodiscard]] std::size_t processor_quota(const char* groups = "/proc/self/cgroup",
                                          const char* mount = "/sys/fs/cgroup") noexcept;

} // namespace heapwise::os
