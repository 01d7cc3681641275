// A lock that counts how often a thread had to wait for it.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include <heapwise/detail/config.hpp>

namespace heapwise::detail::hybrids {

/// A number that one thread at a time writes (its owner, or the holder of a lock). Any thread may
/// read it, and may get a value that is a moment old.
class guarded_count {
 public:
  void add_one() noexcept { add(1); }
  void add(std::size_t count) noexcept {
    // Relaxed, and not a read-modify-write, because there is no other writer.
    number_.store(read() + count, std::memory_order_relaxed);
  }
  [[nodiscard]] std::size_t read() const noexcept {
    return number_.load(std::memory_order_relaxed);
  }

 private:
  std::atomic<std::size_t> number_{0};
};

/// A std::mutex with two counters, on a cache line of its own. To count, the thread that holds the
/// lock does two plain additions. It can be used with std::scoped_lock.
class alignas(cache_line_bytes) counted_mutex {
 public:
  void lock() noexcept {
    if (!mutex_.try_lock()) {
      mutex_.lock();
      waited_.add_one();
    }
    taken_.add_one();
  }
  void unlock() noexcept { mutex_.unlock(); }

  /// Returns: how often the lock was taken, and how often a thread had to wait for it.
  [[nodiscard]] std::size_t taken() const noexcept { return taken_.read(); }
  [[nodiscard]] std::size_t waited() const noexcept { return waited_.read(); }

 private:
  std::mutex mutex_;
  guarded_count taken_;
  guarded_count waited_;
};

} // namespace heapwise::detail::hybrids
