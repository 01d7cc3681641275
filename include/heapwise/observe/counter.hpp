// A number that one thread or all threads count.
#pragma once

#include <atomic>
#include <cstdint>

namespace heapwise::detail::inline v0_2 {

/// Counts without synchronization. Thread safety: none.
template <bool Shared>
class counter {
 public:
  /// Effects: adds 1. Returns: the value after the addition.
  std::uint64_t add() noexcept { return ++value_; }
  void subtract() noexcept { --value_; }
  void raise_to(std::uint64_t least) noexcept {
    if (value_ < least) value_ = least;
  }
  void set(std::uint64_t value) noexcept { value_ = value; }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0;
};

/// Counts for all threads. All operations are relaxed: these numbers do not publish anything, and
/// the pool orders the events that they count.
template <>
class counter<true> {
 public:
  std::uint64_t add() noexcept { return value_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void subtract() noexcept { value_.fetch_sub(1, std::memory_order_relaxed); }
  void raise_to(std::uint64_t least) noexcept {
    std::uint64_t seen = value_.load(std::memory_order_relaxed);
    while (seen < least && !value_.compare_exchange_weak(seen, least, std::memory_order_relaxed)) {
    }
  }
  void set(std::uint64_t value) noexcept { value_.store(value, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept {
    return value_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::uint64_t> value_{0};
};

} // namespace heapwise::detail::inline v0_2
