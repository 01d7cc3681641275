// A lock that needs nothing but the system: no C++ runtime, which a program in C may not have
// loaded.
#pragma once

#include <atomic>
#include <cstdint>

#include "os/os.hpp"

namespace heapwise::os {

/// As std::mutex, for holders that are quick. Thread safety: all.
class mutex {
 public:
  constexpr mutex() noexcept = default;
  mutex(const mutex&) = delete;
  mutex& operator=(const mutex&) = delete;

  void lock() noexcept {
    if (!try_lock()) lock_slowly();
  }

  [[nodiscard]] bool try_lock() noexcept {
    std::uint32_t expected = unlocked;
    // Acquire: what the last holder wrote before it unlocked is seen.
    return state_.compare_exchange_strong(expected, locked, std::memory_order_acquire,
                                          std::memory_order_relaxed);
  }

  void unlock() noexcept {
    // Release: pairs with the acquire of the next holder.
    if (state_.exchange(unlocked, std::memory_order_release) == awaited) wake_one(state_);
  }

  /// Effects: one of the threads that wait, if any, looks at the lock again if it is not held.
  void wake_if_unlocked() noexcept {
    if (!is_locked()) wake_one(state_);
  }

  /// It may be otherwise a moment later.
  [[nodiscard]] bool is_locked() const noexcept {
    return state_.load(std::memory_order_relaxed) != unlocked;
  }

 private:
  enum : std::uint32_t { unlocked, locked, awaited };

  void lock_slowly() noexcept;

  /// Effects: locks it, or the thread that unlocks it has to wake another one: there may be more
  /// than one that waits. Returns: whether it is locked by the calling thread.
  [[nodiscard]] bool lock_or_await() noexcept;

  std::atomic<std::uint32_t> state_{unlocked};
};

} // namespace heapwise::os
