// The files of the probes, which every process of the program inherits open.
#pragma once

#include "line/handed_file.hpp"

namespace heapwise::bench {

/// Effects: opens the files that `environment` names for the probes, and tells the probes in it
/// under which descriptors. Environment: null-terminated entries NAME=VALUE; without a file of a
/// probe it is returned as it is.
class handed_files {
 public:
  explicit handed_files(char** environment);
  handed_files(const handed_files&) = delete;
  handed_files& operator=(const handed_files&) = delete;
  ~handed_files();

  /// Null-terminated; lives as long as this object.
  [[nodiscard]] char** environment() const { return environment_; }

  /// Effects: lets the descriptors survive exec. To be called in the child, after vfork.
  void keep_open() const;

 private:
  static constexpr int files = 2;

  char** environment_;
  char** extended_ = nullptr; ///< ours; nullptr if there was no memory for it
  handed_file handed_[files];
  char entries_[files][96] = {};
};

/// Returns: the value of `name` in `environment`; nullptr if it is not there.
const char* find_setting(char* const* environment, const char* name);

} // namespace heapwise::bench
