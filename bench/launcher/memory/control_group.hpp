// The control group (version 2) in which the kernel counts the memory of the program.
#pragma once

#include <linux/limits.h>

namespace heapwise::bench {

/// A group of its own for the program, if one may be made; else the group that surrounds the
/// launcher, which holds other processes too.
///
/// A group can be made where a group hands its memory controller on to the groups in it. That is
/// the launcher's own group, or the one around it if systemd delegated that and the launcher's own
/// group limits nothing: the program would escape its limits. Groups that the launcher did not make
/// are left as they are.
class control_group {
 public:
  /// root: stands before every path, for tests.
  explicit control_group(const char* root = "") : root_{root} {}

  /// Effects: finds the surrounding group, and makes one for the program if that may be done. Of
  /// what fails only `missing` tells.
  void prepare();

  /// Effects: moves the calling process into the group that was made. Makes one system call, so
  /// that a child may call it between vfork and exec. Returns: whether it is in that group now.
  [[nodiscard]] bool enter() const;

  /// Effects: removes the group that was made, and goes back to the surrounding one.
  /// Requires: no process is in it.
  void give_up(const char* why);

  /// Effects: removes the group that was made. Requires: all its processes have ended.
  void remove();

  /// Returns: whether `folder` is a group that was made for the program alone.
  [[nodiscard]] bool is_own() const { return entrance_ >= 0; }

  /// Returns: the folder of the group's files; empty if the program's memory is counted nowhere.
  [[nodiscard]] const char* folder() const { return is_own() ? made_ : surrounding_; }

  /// Returns: why the program has no group of its own; null if it has one, or if nobody asked.
  [[nodiscard]] const char* missing() const { return missing_[0] == '\0' ? nullptr : missing_; }

 private:
  [[nodiscard]] bool find_surrounding();
  [[nodiscard]] bool find_parent();
  void make();
  void miss(const char* why, const char* about = "");

  const char* root_;
  int entrance_ = -1; ///< cgroup.procs of the group that was made
  char surrounding_[PATH_MAX] = {};
  char parent_[PATH_MAX] = {};
  char made_[PATH_MAX + 32] = {};
  char missing_[160] = {};
};

} // namespace heapwise::bench
