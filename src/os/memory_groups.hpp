// How much memory the control groups of the process have left.
#pragma once

namespace heapwise::os {

/// Returns: whether memory is short in a control group of the process or in one above it: more than
/// seven eighths of `memory.high` or `memory.max` (version 1: `memory.limit_in_bytes`) are in use,
/// without files that nobody used lately; or a thread of the group waited for memory in a tenth of
/// the last ten seconds (`memory.pressure`). false if nothing can be read. Reads some small files.
/// Keeps errno. `groups` and `mount` are where they are.
[[nodiscard]] bool memory_is_short(const char* groups = "/proc/self/cgroup",
                                   const char* mount = "/sys/fs/cgroup") noexcept;

} // namespace heapwise::os
