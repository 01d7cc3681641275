#include "os/mutex.hpp"

#include "os/linux/bare/bare_state.hpp"
#include "os/owner.hpp"

namespace heapwise::os {

namespace {

// A holder on another processor is done sooner than the system could put this thread to sleep.
constexpr int most_looks = 64;

} // namespace

bool mutex::lock_or_await() noexcept {
  // Pairs with the release in unlock: what the last holder wrote is seen.
  return state_.exchange(awaited, std::memory_order_acquire) == unlocked;
}

void mutex::lock_slowly() noexcept {
  for (int look = 0; look < most_looks; ++look) {
    pause();
    if (state_.load(std::memory_order_relaxed) == unlocked && try_lock()) return;
  }
  if (is_alone_in_copy()) {
    state_.store(locked, std::memory_order_relaxed); // a thread of the parent held it
    return;
  }
#if HEAPWISE_BARE_THREADS
  bare_state* const bare = bare_state::own();
  while (!lock_or_await()) {
    if (bare == nullptr) {
      wait(state_, awaited, 0);
      continue;
    }
    // A fork in a signal handler may find a bare thread here, which waits for a lock that the
    // thread holds that forks. In the child it goes on from here.
    bare->wait_for(*this, state_, awaited);
    bare->goes_on();
  }
#else
  while (!lock_or_await()) wait(state_, awaited, 0);
#endif
}

} // namespace heapwise::os
