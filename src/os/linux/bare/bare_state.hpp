// What a bare thread is doing, so that a fork can wait until it does nothing that a child would
// find half done (docs/design/heap.md#fork).
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "os/linux/bare/bare_machine.hpp"
#include "os/mutex.hpp"

namespace heapwise::os {

/// Written by its bare thread, read by the only other thread while that one forks.
class bare_state {
 public:
  /// Effects: the thread holds no lock and touches nothing that is shared. Also before it starts.
  void rest() noexcept { set(resting); }

  /// Effects: the thread works. Returns once no pause is asked for.
  void work() noexcept;

  /// Effects: the thread works again after it waited.
  void goes_on() noexcept { set(working); }

#if HEAPWISE_BARE_THREADS
  /// Effects: the thread waits for a lock as long as `word`, which is the lock's, is `expected`; it
  /// touches nothing that is shared until `goes_on`. It may return early.
  void wait_for(mutex& lock, std::atomic<std::uint32_t>& word, std::uint32_t expected) noexcept;

  /// Effects: the calling thread goes on from where the thread waits that it is a copy of.
  [[noreturn]] void go_on() const noexcept { go_on_at(place_); }
#endif

  /// Returns: whether the thread does nothing until the calling thread lets it.
  /// Requires: a pause is asked for, no other bare thread works, and the calling thread is the only
  /// other one, so that it holds each lock that is held and that the thread waits for.
  [[nodiscard]] bool is_still() const noexcept;

  /// Effects: wakes the thread if it waits for a lock that is not held any more. The thread that
  /// unlocked it may have been interrupted just before it would have done so.
  void look_again() const noexcept;

  [[nodiscard]] bool waits() const noexcept { return state() == waiting; }

  /// Effects: `own` finds this for the threads whose stacks lie between the two addresses.
  void set_stack(const void* begin, const void* end) noexcept;

  /// Returns: that of the calling thread; nullptr if it is not a bare thread.
  [[nodiscard]] static bare_state* own() noexcept;

 private:
  enum : std::uint32_t { resting, working, waiting };

  // Sequentially consistent, here and where pauses are asked for: of a thread that begins to work
  // and one that asks for a pause, one sees the other.
  void set(std::uint32_t to) noexcept { state_.store(to, std::memory_order_seq_cst); }
  [[nodiscard]] std::uint32_t state() const noexcept {
    return state_.load(std::memory_order_seq_cst);
  }

  std::atomic<std::uint32_t> state_{resting};
  std::atomic<mutex*> awaited_{nullptr};
  std::atomic<std::uintptr_t> stack_begin_{0};
  std::atomic<std::uintptr_t> stack_end_{0};
#if HEAPWISE_BARE_THREADS
  waiting_place place_{}; // a forked child lets a thread go on from here
#endif
};

/// How many bare threads there can be: one that was told to end may still be there when the next
/// one starts.
inline constexpr std::size_t most_bare_threads = 2;
extern std::array<bare_state, most_bare_threads> the_bare_states;

/// How many forks have asked for a pause. Bare threads wait for it to become 0.
extern std::atomic<std::uint32_t> the_pauses;

} // namespace heapwise::os
