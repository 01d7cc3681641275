#include "launcher/facts/throttling.hpp"

#include <climits>
#include <cstdio>
#include <cstring>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

/// One of the hierarchies that may hold the limit: where it is mounted, how /proc/self/cgroup names
/// it, and how its cpu.stat names the time.
struct hierarchy {
  const char* mount;
  const char* name;
  const char* time_label;
  std::int64_t units_per_us;
};

constexpr hierarchy hierarchies[] = {
    {"/sys/fs/cgroup", "0::", "throttled_usec ", 1},
    {"/sys/fs/cgroup/unified", "0::", "throttled_usec ", 1},
    {"/sys/fs/cgroup/cpu", ":cpu:", "throttled_time ", 1000},
    {"/sys/fs/cgroup/cpu,cpuacct", ":cpu,cpuacct:", "throttled_time ", 1000},
};

/// Adds what one group says; false if there is no such file.
bool add_group(const char* folder, const hierarchy& where, throttling& sum) {
  char path[PATH_MAX + 16];
  std::snprintf(path, sizeof path, "%s/cpu.stat", folder);
  const small_file stat{path};
  const std::int64_t periods = stat.number_after("nr_throttled ");
  const std::int64_t time = stat.number_after(where.time_label);
  if (periods < 0 || time < 0) return stat.text()[0] != '\0';
  sum.periods = (sum.periods < 0 ? 0 : sum.periods) + periods;
  sum.time_us = (sum.time_us < 0 ? 0 : sum.time_us) + time / where.units_per_us;
  return true;
}

/// From the process's own group up to the mount. False if the hierarchy is not mounted there.
bool add_groups(const char* groups, const hierarchy& where, throttling& sum) {
  const char* line = std::strstr(groups, where.name);
  if (line == nullptr) return false;
  const char* group = line + std::strlen(where.name);
  const auto length = static_cast<int>(std::strcspn(group, "\n"));
  constexpr int length_of_root = 1; // "/" is the mount itself, which must not be added twice
  char folder[PATH_MAX];
  std::snprintf(folder, sizeof folder, "%s%.*s", where.mount, length == length_of_root ? 0 : length,
                group);
  const std::size_t mount_length = std::strlen(where.mount);
  bool has_group = false;
  while (true) {
    has_group |= add_group(folder, where, sum);
    char* last = std::strrchr(folder, '/');
    if (last == nullptr || last < folder + mount_length) return has_group;
    *last = '\0';
  }
}

} // namespace

throttling throttling::now() {
  const small_file groups{"/proc/self/cgroup"};
  throttling sum;
  for (const hierarchy& where : hierarchies) {
    if (add_groups(groups.text(), where, sum) && sum.periods >= 0) break;
  }
  return sum;
}

throttling throttling::since(const throttling& before) const {
  if (periods < 0 || before.periods < 0) return {};
  return {periods - before.periods, time_us - before.time_us};
}

} // namespace heapwise::bench
