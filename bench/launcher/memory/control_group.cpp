#include "launcher/memory/control_group.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <string_view>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {
namespace {

constexpr const char* mounts[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
constexpr const char* limits[] = {"memory.max", "memory.high", "memory.swap.max",
                                  "cpu.max",    "cpuset.cpus", "pids.max"};
constexpr const char* delegations[] = {"user.delegate", "trusted.delegate"};
constexpr std::string_view own_prefix = "heapwise-"; // then the launcher's process
constexpr int most_removals = 50;                    // 2 ms apart
constexpr useconds_t between_removals_us = 2000;

struct group_file : small_file {
  group_file(const char* folder, const char* name) : small_file{path_of(folder, name)} {}

  static const char* path_of(const char* folder, const char* name) {
    static char path[PATH_MAX + 64];
    std::snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
  }
};

/// The kernel writes names in one line, with blanks between them.
bool lists_memory(const char* folder, const char* name) {
  constexpr std::string_view wanted = "memory";
  const group_file file{folder, name};
  std::string_view rest = file.text();
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find_first_of(" \n"), rest.size());
    if (rest.substr(0, end) == wanted) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

bool is_delegated(const char* folder) {
  return std::any_of(std::begin(delegations), std::end(delegations), [folder](const char* name) {
    char value[2] = {};
    return getxattr(folder, name, value, sizeof value) >= 1 && value[0] == '1';
  });
}

/// A limit that is not set reads "max", or as an empty line; without its controller it has no file.
bool limits_nothing(const char* folder) {
  return std::all_of(std::begin(limits), std::end(limits), [folder](const char* name) {
    const group_file file{folder, name};
    const std::string_view text = file.text();
    return text.empty() || text == "\n" || text.starts_with("max");
  });
}

/// Returns: the process for which a launcher made the group `name`; 0 if no launcher made it.
pid_t owner(std::string_view name) {
  if (!name.starts_with(own_prefix)) return 0;
  char* end = nullptr;
  const long process = std::strtol(name.data() + own_prefix.size(), &end, 10);
  return *end == '\0' && process > 0 ? static_cast<pid_t>(process) : 0;
}

/// Launchers that were killed leave their groups. The kernel refuses to remove a group with
/// processes.
void remove_abandoned(const char* parent) {
  DIR* folder = opendir(parent);
  if (folder == nullptr) return;
  while (const dirent* entry = readdir(folder)) {
    const pid_t process = owner(entry->d_name);
    if (process == 0 || kill(process, 0) == 0 || errno != ESRCH) continue;
    unlinkat(dirfd(folder), entry->d_name, AT_REMOVEDIR);
  }
  closedir(folder);
}

/// The line of version 2 in /proc/self/cgroup; null if there is none.
const char* group_name(const char* groups) {
  constexpr const char* label = "0::";
  const char* at = std::strstr(groups, label);
  while (at != nullptr && at != groups && at[-1] != '\n') at = std::strstr(at + 1, label);
  return at == nullptr ? nullptr : at + std::strlen(label);
}

} // namespace

void control_group::prepare() {
  if (!find_surrounding()) return miss("no control group of version 2 can be seen here");
  if (!lists_memory(surrounding_, "cgroup.controllers")) {
    surrounding_[0] = '\0';
    return miss("its control group has no memory controller of version 2");
  }
  if (find_parent()) {
    make();
  } else {
    miss("no control group may be made here: none is delegated");
  }
  // The root of all groups counts nothing of itself.
  if (!is_own() && access(group_file::path_of(surrounding_, "memory.current"), R_OK) != 0) {
    surrounding_[0] = '\0';
  }
}

bool control_group::find_surrounding() {
  char path[PATH_MAX];
  std::snprintf(path, sizeof path, "%s/proc/self/cgroup", root_);
  const small_file groups{path};
  const char* name = group_name(groups.text());
  // A name with ".." is outside of what is mounted in this container.
  if (name == nullptr || std::string_view{name}.starts_with("/..")) return false;
  const auto length = static_cast<int>(std::strcspn(name, "\n"));
  constexpr int length_of_root = 1; // "/"
  for (const char* mount : mounts) {
    std::snprintf(surrounding_, sizeof surrounding_, "%s%s%.*s", root_, mount,
                  length == length_of_root ? 0 : length, name);
    if (access(group_file::path_of(surrounding_, "cgroup.controllers"), R_OK) == 0) return true;
  }
  surrounding_[0] = '\0';
  return false;
}

bool control_group::find_parent() {
  std::memcpy(parent_, surrounding_, sizeof parent_);
  if (lists_memory(parent_, "cgroup.subtree_control")) return true;
  char* last = std::strrchr(parent_, '/');
  if (last == nullptr) return false;
  *last = '\0';
  return lists_memory(parent_, "cgroup.subtree_control") && is_delegated(parent_) &&
         limits_nothing(surrounding_);
}

void control_group::make() {
  remove_abandoned(parent_);
  std::snprintf(made_, sizeof made_, "%s/%s%d", parent_, own_prefix.data(),
                static_cast<int>(getpid()));
  rmdir(made_); // that of a killed launcher with the same number
  if (mkdir(made_, 0755) != 0) return miss("no control group can be made: ", std::strerror(errno));
  entrance_ = open(group_file::path_of(made_, "cgroup.procs"), O_WRONLY | O_CLOEXEC);
  if (entrance_ >= 0) return;
  miss("a control group cannot be entered: ", std::strerror(errno));
  rmdir(made_);
}

bool control_group::enter() const {
  return is_own() && write(entrance_, "0", 1) == 1; // 0: the process that writes
}

void control_group::give_up(const char* why) {
  remove();
  miss(why);
}

void control_group::remove() {
  if (!is_own()) return;
  close(entrance_);
  entrance_ = -1;
  // A process that has just been waited for may still be on its way out.
  for (int i = 0; i < most_removals && rmdir(made_) != 0 && errno == EBUSY; ++i) {
    usleep(between_removals_us);
  }
}

void control_group::miss(const char* why, const char* about) {
  std::snprintf(missing_, sizeof missing_, "%s%s", why, about);
}

} // namespace heapwise::bench
