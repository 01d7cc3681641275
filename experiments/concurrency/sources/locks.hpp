// Locks to compare, each with lock and unlock. A waiter gives its processor away after as many
// looks as its patience allows: with more threads than processors, the holder may wait for that
// processor.
#pragma once

#include <atomic>
#include <cstdint>

#include "sources/waiting.hpp"

namespace concurrency {

/// Test and test-and-set: waits on its own copy of the line, and takes the line only to try.
class spin_lock {
 public:
  explicit spin_lock(patience looks) noexcept : looks_{looks} {}

  void lock() noexcept {
    waiter waiting{looks_};
    // acquire pairs with the release in unlock: what the last holder wrote is seen.
    while (held_.exchange(true, std::memory_order_acquire)) {
      waiting.until([this] { return !held_.load(std::memory_order_relaxed); });
    }
  }
  void unlock() noexcept { held_.store(false, std::memory_order_release); }

 private:
  patience looks_; // on a line that nobody writes
  alignas(64) std::atomic<bool> held_{false};
};

/// First come, first served: each waits for its number. All wait on one line.
class ticket_lock {
 public:
  explicit ticket_lock(patience looks) noexcept : looks_{looks} {}

  void lock() noexcept {
    const std::uint32_t mine = next_.fetch_add(1, std::memory_order_relaxed);
    waiter waiting{looks_};
    // acquire pairs with the release in unlock.
    waiting.until([&] { return served_.load(std::memory_order_acquire) == mine; });
  }
  void unlock() noexcept {
    // Only the holder writes it, so nothing can come between the load and the store.
    served_.store(served_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

 private:
  patience looks_; // on a line that nobody writes
  alignas(64) std::atomic<std::uint32_t> next_{0};
  alignas(64) std::atomic<std::uint32_t> served_{0};
};

/// A queue of waiters, each on a line of its own (Mellor-Crummey and Scott 1991,
/// doi 10.1145/103727.103729).
class mcs_lock {
 public:
  /// A thread's place in the queue: to be kept from lock to unlock.
  struct alignas(64) place {
    std::atomic<place*> next{nullptr};
    std::atomic<bool> waits{false};
  };

  explicit mcs_lock(patience looks) noexcept : looks_{looks} {}

  void lock(place& mine) noexcept {
    mine.next.store(nullptr, std::memory_order_relaxed);
    mine.waits.store(true, std::memory_order_relaxed);
    // acq_rel: publishes `mine` to the next thread; acquires from the last holder if it has left.
    place* const before = tail_.exchange(&mine, std::memory_order_acq_rel);
    if (before == nullptr) return;
    before->next.store(&mine, std::memory_order_release); // pairs with the acquires in unlock
    waiter waiting{looks_};
    // acquire pairs with the release at the end of unlock.
    waiting.until([&] { return !mine.waits.load(std::memory_order_acquire); });
  }

  void unlock(place& mine) noexcept {
    place* after = mine.next.load(std::memory_order_acquire);
    if (after == nullptr) {
      place* expected = &mine;
      // release pairs with the exchange of the thread that takes the free lock.
      if (tail_.compare_exchange_strong(expected, nullptr, std::memory_order_release,
                                        std::memory_order_relaxed)) {
        return;
      }
      waiter waiting{looks_}; // somebody has come, but not yet said where it waits
      waiting.until([&] {
        after = mine.next.load(std::memory_order_acquire);
        return after != nullptr;
      });
    }
    after->waits.store(false, std::memory_order_release);
  }

 private:
  patience looks_; // on a line that nobody writes
  alignas(64) std::atomic<place*> tail_{nullptr};
};

} // namespace concurrency
