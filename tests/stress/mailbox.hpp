// Blocks on their way from one thread to another.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>

namespace stress {

/// Places for blocks that anybody fills and anybody empties. Thread safety: all.
class mailbox {
 public:
  /// Returns: what lay in that place before, nullptr if it was empty.
  void* exchange(std::size_t place, void* block) noexcept {
    // Acquire and release: the reader sees what the sender wrote to the block.
    return places_[place % size].exchange(block, std::memory_order_acq_rel);
  }
  static constexpr std::size_t size = 64;

 private:
  std::array<std::atomic<void*>, size> places_{};
};

} // namespace stress
