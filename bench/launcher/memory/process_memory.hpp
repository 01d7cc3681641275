// How much of the memory of each process is in others of its tree too.
#pragma once

#include <cstdint>

#include "launcher/memory/process_tree.hpp"

namespace heapwise::bench {

/// What the kernel says of one process, in KiB.
struct process_memory {
  std::int64_t resident_kib = 0;
  std::int64_t anonymous_kib = 0; ///< of these, what belongs to no file and is not shared memory
};

/// The share of a process, from its last count and its growth since. In a tree of several processes
/// only anonymous memory grows a share: what they map together would be counted for each. A process
/// that was not counted yet has no share if it is a fork of its parent, and all that it has if it
/// has executed a program.
class sharing {
 public:
  /// What is known of processes that are not counted any more is forgotten.
  void begin_count() { count_ = 0; }

  void counted(const tree_process& process, const process_memory& now,
               std::int64_t proportional_kib) {
    add({process.pid, now, proportional_kib, false});
  }

  /// alone: the tree has no other process.
  std::int64_t proportional_kib(const tree_process& process, const process_memory& now, bool alone);

 private:
  struct known {
    pid_t pid;
    process_memory then;
    std::int64_t proportional_kib;
    bool forked; ///< when it was last looked at, and not counted yet
  };

  void add(const known& process) {
    if (count_ < process_tree::most) processes_[count_++] = process;
  }
  known* find(pid_t pid);

  int count_ = 0;
  known processes_[process_tree::most];
};

} // namespace heapwise::bench
