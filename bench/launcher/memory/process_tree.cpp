#include "launcher/memory/process_tree.hpp"

#include <dirent.h>

#include <cstdio>
#include <cstdlib>

#include "launcher/facts/small_file.hpp"

namespace heapwise::bench {

void process_tree::look(pid_t root) {
  count_ = 0;
  processes_[count_++] = {root, 0};
  for (int i = 0; i < count_; ++i) add_children(processes_[i].pid);
}

void process_tree::add_children(pid_t process) {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task", static_cast<int>(process));
  DIR* threads = opendir(path);
  if (threads == nullptr) return;
  while (const dirent* thread = readdir(threads)) {
    if (thread->d_name[0] == '.') continue;
    std::snprintf(path, sizeof path, "/proc/%d/task/%.20s/children", static_cast<int>(process),
                  thread->d_name);
    const small_file children{path};
    const char* at = children.text();
    for (char* end = nullptr; count_ < most; at = end) {
      const long child = std::strtol(at, &end, 10);
      if (end == at) break;
      if (child > 0) processes_[count_++] = {static_cast<pid_t>(child), process};
    }
  }
  closedir(threads);
}

} // namespace heapwise::bench
