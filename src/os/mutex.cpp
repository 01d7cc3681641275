#include "os/mutex.hpp"

#include <ucontext.h>

#include "os/bare_state.hpp"

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
  // A fork in a signal handler may find a bare thread here, which waits for a lock that the thread
  // holds that forks. In the child it goes on from here.
  bare_state* const bare = bare_state::own();
  if (bare != nullptr) ::getcontext(&bare->where());
  for (;;) {
    if (bare != nullptr) bare->goes_on();
    // From here on the thread that unlocks has to wake somebody: there may be more than one that
    // waits.
    if (state_.exchange(awaited, std::memory_order_acquire) == unlocked) return;
    if (bare != nullptr) bare->waits_for(*this);
    wait(state_, awaited, 0);
  }
}

} // namespace heapwise::os
