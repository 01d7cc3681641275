// The processes of a tree, as the kernel lists them now.
#pragma once

#include <sys/types.h>

namespace heapwise::bench {

struct tree_process {
  pid_t pid;
  pid_t parent;
};

/// A process and its descendants, parents first. Of more than `most` the last ones are left out.
class process_tree {
 public:
  static constexpr int most = 1024;

  /// Effects: reads the lists of children of every thread. Processes that end meanwhile are left
  /// out. Complexity: one file for each thread of the tree.
  void look(pid_t root);

  [[nodiscard]] const tree_process* begin() const { return processes_; }
  [[nodiscard]] const tree_process* end() const { return processes_ + count_; }

 private:
  void add_children(pid_t process);

  int count_ = 0;
  tree_process processes_[most];
};

} // namespace heapwise::bench
