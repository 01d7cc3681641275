// Every function of this folder leaves errno as it was.
#pragma once

#include <cerrno>

namespace heapwise::os {

/// Keeps errno as it was, whatever the calls in between do to it.
class errno_keeper {
 public:
  errno_keeper() noexcept : saved_{errno} {}
  ~errno_keeper() { errno = saved_; }
  errno_keeper(const errno_keeper&) = delete;
  errno_keeper& operator=(const errno_keeper&) = delete;

 private:
  int saved_;
};

} // namespace heapwise::os
