// Queues of our own: a ring behind a mutex, a ring for one producer and one consumer without a
// lock, and a bounded ring for many of both. Each has
//
//     push(first, count)   takes some of them, in order; returns how many, 0 if it is full
//     pop(first, count)    gives at most `count`; returns how many, 0 if it is empty
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace concurrency {

/// Messages in a ring; the indices count on and are not wrapped.
template <class Message, std::size_t Capacity>
class slots {
 public:
  static constexpr std::size_t capacity = Capacity;
  static_assert((Capacity & (Capacity - 1)) == 0);

  [[nodiscard]] Message& operator[](std::size_t index) noexcept {
    return messages_[index % Capacity];
  }

 private:
  std::array<Message, Capacity> messages_{};
};

/// One lock round everything: for any number of producers and consumers.
template <class Message, std::size_t Capacity>
class mutex_ring {
 public:
  std::size_t push(const Message* first, std::size_t count) {
    const std::scoped_lock lock{mutex_};
    const std::size_t taken = std::min(count, Capacity - (written_ - read_));
    for (std::size_t i = 0; i < taken; ++i) slots_[written_ + i] = first[i];
    written_ += taken;
    return taken;
  }

  std::size_t pop(Message* first, std::size_t count) {
    const std::scoped_lock lock{mutex_};
    const std::size_t number = std::min(count, written_ - read_);
    for (std::size_t i = 0; i < number; ++i) first[i] = slots_[read_ + i];
    read_ += number;
    return number;
  }

 private:
  alignas(64) std::mutex mutex_;
  std::size_t written_ = 0;
  std::size_t read_ = 0;
  alignas(64) slots<Message, Capacity> slots_;
};

/// One producer, one consumer. Each side owns an index and keeps a copy of the other's, which is
/// old but never wrong: it asks for the line only when by its copy there is no room, or nothing.
template <class Message, std::size_t Capacity>
class spsc_ring {
 public:
  std::size_t push(const Message* first, std::size_t count) noexcept {
    const std::size_t at = producer_.mine.load(std::memory_order_relaxed); // this thread's own
    if (Capacity - (at - producer_.others) < count) {
      // acquire pairs with the release in pop: what is to be overwritten has been read.
      producer_.others = consumer_.mine.load(std::memory_order_acquire);
    }
    const std::size_t taken = std::min(count, Capacity - (at - producer_.others));
    for (std::size_t i = 0; i < taken; ++i) slots_[at + i] = first[i];
    // release pairs with the acquire in pop: the messages.
    if (taken != 0) producer_.mine.store(at + taken, std::memory_order_release);
    return taken;
  }

  std::size_t pop(Message* first, std::size_t count) noexcept {
    const std::size_t at = consumer_.mine.load(std::memory_order_relaxed); // this thread's own
    if (consumer_.others - at < count) {
      consumer_.others = producer_.mine.load(std::memory_order_acquire);
    }
    const std::size_t number = std::min(count, consumer_.others - at);
    for (std::size_t i = 0; i < number; ++i) first[i] = slots_[at + i];
    if (number != 0) consumer_.mine.store(at + number, std::memory_order_release);
    return number;
  }

 private:
  struct alignas(64) side {
    std::atomic<std::size_t> mine{0};
    std::size_t others = 0; ///< only the side itself looks at it
  };
  side producer_;
  side consumer_;
  alignas(64) slots<Message, Capacity> slots_;
};

/// Any number of producers and consumers, no lock: each slot has a number that says whose turn it
/// is (D. Vyukov, "Bounded MPMC queue", 1024cores.net).
template <class Message, std::size_t Capacity>
class mpmc_ring {
 public:
  mpmc_ring() noexcept {
    for (std::size_t i = 0; i < Capacity; ++i) slots_[i].turn.store(i, std::memory_order_relaxed);
  }

  std::size_t push(const Message* first, std::size_t count) noexcept {
    return each(first, count, [this](const Message& message) { return push_one(message); });
  }
  std::size_t pop(Message* first, std::size_t count) noexcept {
    return each(first, count, [this](Message& message) { return pop_one(message); });
  }

 private:
  template <class Pointer, class One>
  static std::size_t each(Pointer first, std::size_t count, One&& one) noexcept {
    std::size_t done = 0;
    while (done < count && one(first[done])) ++done;
    return done;
  }

  bool push_one(const Message& message) noexcept {
    std::size_t at = 0;
    if (!claim(written_, 0, at)) return false;
    slot& claimed = slots_[at];
    claimed.message = message;
    claimed.turn.store(at + 1, std::memory_order_release); // the reader's turn, with the message
    return true;
  }

  bool pop_one(Message& message) noexcept {
    std::size_t at = 0;
    if (!claim(read_, 1, at)) return false;
    slot& claimed = slots_[at];
    message = claimed.message;
    claimed.turn.store(at + Capacity, std::memory_order_release); // the next round's writer
    return true;
  }

  /// Gets the next index of which it is the turn; false if that is not yet there.
  bool claim(std::atomic<std::size_t>& index, std::size_t turn, std::size_t& at) noexcept {
    at = index.load(std::memory_order_relaxed);
    while (true) {
      // acquire pairs with the release of the thread that had the slot before.
      const std::size_t now = slots_[at].turn.load(std::memory_order_acquire);
      if (now == at + turn) {
        // relaxed: the index only says which thread goes on; the slot's turn carries the message.
        if (index.compare_exchange_weak(at, at + 1, std::memory_order_relaxed)) return true;
      } else if (static_cast<std::ptrdiff_t>(now - (at + turn)) < 0) {
        return false;
      } else {
        at = index.load(std::memory_order_relaxed);
      }
    }
  }

  struct slot {
    std::atomic<std::size_t> turn{0};
    Message message{};
  };
  alignas(64) std::atomic<std::size_t> written_{0};
  alignas(64) std::atomic<std::size_t> read_{0};
  alignas(64) slots<slot, Capacity> slots_;
};

} // namespace concurrency
