// A mutex whose holder cannot take it again before those who wait.
#pragma once

#include "os/mutex.hpp"

namespace heapwise::os {

/// As os::mutex, for holders that take it again at once: of a thread that is ready to take it and
/// the thread that unlocks it, the first gets it. Among several that wait, the system's order
/// decides. Costs two atomic exchanges more than os::mutex. Thread safety: all.
class fair_mutex {
 public:
  constexpr fair_mutex() noexcept = default;
  fair_mutex(const fair_mutex&) = delete;
  fair_mutex& operator=(const fair_mutex&) = delete;

  /// Who waits for the holder keeps the entrance, so that the holder, when it comes back, waits
  /// behind.
  void lock() noexcept {
    entrance_.lock();
    inside_.lock();
    entrance_.unlock();
  }

  void unlock() noexcept { inside_.unlock(); }

  /// Effects: in the child of a fork, unlocks what the parent's forking thread locked before the
  /// fork; other threads of the parent, which may have waited, are forgotten.
  /// Requires: this thread is the only one of the process, and a copy of the holder.
  void unlock_in_child() noexcept {
    // Nobody holds the entrance but a thread that the child does not have.
    entrance_.unlock();
    inside_.unlock();
  }

 private:
  mutex entrance_; // held by the one thread that waits for the holder
  mutex inside_;
};

} // namespace heapwise::os
