#include "os/mutex.hpp"

namespace heapwise::os {

namespace {

// A holder on another processor is done sooner than the system could put this thread to sleep.
constexpr int most_looks = 64;

} // namespace

void mutex::lock_slowly() noexcept {
  for (int look = 0; look < most_looks; ++look) {
    pause();
    if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
  }
  // From here on the thread that unlocks has to wake somebody: there may be more than one that
  // waits.
  while (state_.exchange(awaited, std::memory_order_acquire) != unlocked) {
    wait(state_, awaited, 0);
  }
}

} // namespace heapwise::os
