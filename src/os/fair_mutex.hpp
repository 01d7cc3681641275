// A mutex that a thread cannot unlock and lock again while another thread waits for it.
#pragma once

#include "os/expects.hpp"
#include "os/mutex.hpp"

namespace heapwise::os {

/// As os::mutex, for threads that unlock it and lock it again at once: they wait until one thread
/// that waited has had it. The system's order decides among several threads that wait. A pair of
/// lock and unlock costs two atomic operations more than with os::mutex. Thread safety: all.
class fair_mutex {
 public:
  constexpr fair_mutex() noexcept = default;
  fair_mutex(const fair_mutex&) = delete;
  fair_mutex& operator=(const fair_mutex&) = delete;

  // A thread that waits for the inside keeps the entrance locked. The thread that left the inside
  // cannot pass it.
  void lock() noexcept {
    entrance_.lock();
    inside_.lock();
    entrance_.unlock();
  }

  void unlock() noexcept { inside_.unlock(); }

  /// It may be otherwise a moment later.
  [[nodiscard]] bool is_locked() const noexcept { return inside_.is_locked(); }

  /// Effects: in the child of a fork, unlocks what the parent's forking thread locked before the
  /// fork; other threads of the parent, which may have waited, are forgotten.
  /// Requires: this thread is the only one of the process, and a copy of the holder.
  void unlock_in_child() noexcept {
    expects([&] { return is_locked(); }, "the forking thread held the lock");
    // If the entrance is locked, a thread has locked it that the child does not have.
    entrance_.unlock();
    inside_.unlock();
  }

 private:
  mutex entrance_; // held by the one thread that waits for the holder
  mutex inside_;
};

} // namespace heapwise::os
