// Giving pages back to a system that may refuse.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace heapwise::detail {

/// Asks no more once the system has refused some times in a row: it refuses all pages of a process
/// that has called mlockall. Thread safety: all.
class page_returns {
 public:
  /// Effects: as os::purge, unless it is not worth asking.
  bool give_back(void* memory, std::size_t size_bytes) noexcept;

  /// Effects: asks at least once more.
  void try_again() noexcept;

  /// Effects: asks as often as at first.
  void forget_refusals() noexcept { refusals_.store(0, std::memory_order_relaxed); }

  /// Returns: whether the system has refused the last time.
  [[nodiscard]] bool was_refused() const noexcept {
    return refusals_.load(std::memory_order_relaxed) > 0;
  }

  [[nodiscard]] bool refused() const noexcept {
    return refusals_.load(std::memory_order_relaxed) >= most_refusals;
  }

 private:
  static constexpr std::uint32_t most_refusals = 8;

  std::atomic<std::uint32_t> refusals_{0}; // in a row; a count that is lost does no harm
};

extern page_returns the_page_returns;

} // namespace heapwise::detail
