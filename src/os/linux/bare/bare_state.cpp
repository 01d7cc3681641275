#include "os/linux/bare/bare_state.hpp"

#include "os/os.hpp"

namespace heapwise::os {

constinit std::array<bare_state, most_bare_threads> the_bare_states{};
constinit std::atomic<std::uint32_t> the_pauses{0};

void bare_state::work() noexcept {
  for (;;) {
    set(working);
    // Sequentially consistent, as is the count in pause_bare_threads: either this thread sees the
    // pause, or the pausing thread sees it work.
    const std::uint32_t pauses = the_pauses.load(std::memory_order_seq_cst);
    if (pauses == 0) return;
    set(resting);
    wait(the_pauses, pauses, 0);
  }
}

#if HEAPWISE_BARE_THREADS
void bare_state::wait_for(mutex& lock, std::atomic<std::uint32_t>& word,
                          std::uint32_t expected) noexcept {
  awaited_.store(&lock, std::memory_order_relaxed); // the store of `waiting` publishes it
  wait_at(place_, reinterpret_cast<std::uint32_t&>(state_), waiting,
          reinterpret_cast<std::uint32_t&>(word), expected);
}
#endif

bool bare_state::is_still() const noexcept {
  const std::uint32_t now = state();
  if (now != waiting) return now == resting;
  return awaited_.load(std::memory_order_relaxed)->is_locked();
}

void bare_state::look_again() const noexcept {
  if (state() == waiting) awaited_.load(std::memory_order_relaxed)->wake_if_unlocked();
}

void bare_state::set_stack(const void* begin, const void* end) noexcept {
  stack_begin_.store(reinterpret_cast<std::uintptr_t>(begin), std::memory_order_relaxed);
  stack_end_.store(reinterpret_cast<std::uintptr_t>(end), std::memory_order_relaxed);
}

bare_state* bare_state::own() noexcept {
  const auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  for (bare_state& each : the_bare_states) {
    // Relaxed: a bare thread sees what was written before it started. For any other thread the
    // stack is elsewhere, now and before.
    if (here >= each.stack_begin_.load(std::memory_order_relaxed) &&
        here < each.stack_end_.load(std::memory_order_relaxed)) {
      return &each;
    }
  }
  return nullptr;
}

} // namespace heapwise::os
