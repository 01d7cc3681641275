// How much memory the control groups of this process still allow. A container has such a limit, and
// a process that passes it is killed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string>
#include <string_view>

namespace heaps {

/// One of the hierarchies that may hold the limit: where it is mounted, how /proc/self/cgroup names
/// it, and which files of a group have the limit and what is in use.
struct memory_hierarchy {
  std::string_view mount;
  std::string_view name;
  std::string_view limit;
  std::string_view usage;
  std::string_view cache; // of files that the system drops if it needs the memory, in memory.stat
};

inline constexpr std::array memory_hierarchies{
    memory_hierarchy{"/sys/fs/cgroup", "0::", "memory.max", "memory.current", "inactive_file"},
    memory_hierarchy{"/sys/fs/cgroup/unified", "0::", "memory.max", "memory.current",
                     "inactive_file"},
    memory_hierarchy{"/sys/fs/cgroup/memory", ":memory:", "memory.limit_in_bytes",
                     "memory.usage_in_bytes", "total_inactive_file"},
};

/// Returns: the number behind a word of a file; 0 if there is none.
inline std::uint64_t number_behind(const std::string& path, std::string_view word) {
  std::ifstream file{path};
  std::uint64_t number = 0;
  for (std::string key; file >> key >> number;) {
    if (key == word) return number;
  }
  return 0;
}

/// Returns: what one group still allows; UINT64_MAX if it has no limit.
inline std::uint64_t left_in_group(const std::string& folder, const memory_hierarchy& kind) {
  std::uint64_t limit = 0;
  std::uint64_t usage = 0;
  // "max" is not a number: there is no limit.
  if (!(std::ifstream{folder + "/" + std::string{kind.limit}} >> limit)) return UINT64_MAX;
  if (!(std::ifstream{folder + "/" + std::string{kind.usage}} >> usage)) return limit;
  usage -= std::min(usage, number_behind(folder + "/memory.stat", kind.cache));
  return limit - std::min(limit, usage);
}

/// Returns: the least that the group of the process and those around it allow; UINT64_MAX if none
/// has a limit. `root` is put before each path, for tests.
inline std::uint64_t left_in_groups(const std::string& root = "") {
  std::uint64_t left = UINT64_MAX;
  std::ifstream groups{root + "/proc/self/cgroup"};
  for (std::string line; std::getline(groups, line);) {
    for (const memory_hierarchy& kind : memory_hierarchies) {
      const std::size_t at = line.find(kind.name);
      if (at == std::string::npos) continue;
      const std::string mount = root + std::string{kind.mount};
      std::string folder = mount + line.substr(at + kind.name.size());
      while (true) {
        left = std::min(left, left_in_group(folder, kind));
        if (folder.size() <= mount.size()) break;
        folder.resize(std::max(mount.size(), folder.rfind('/')));
      }
    }
  }
  return left;
}

} // namespace heaps
