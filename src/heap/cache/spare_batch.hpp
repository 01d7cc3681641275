// The second batch of a class in a thread's cache. The clock takes it away from a thread that has
// not exchanged it for a while.
#pragma once

#include <atomic>
#include <cstdint>

#include "heap/central/batches.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Holds one batch or none. One word has the address, whether the batch is full, and how often the
/// clock has seen it. Each exchange by the owner sets that count to 0.
/// Thread safety: one thread owns it and calls `take` and `put`; others may call `take_if_old`.
class spare_batch {
 public:
  struct content {
    batch* held = nullptr;
    bool is_full = false;
  };

  [[nodiscard]] bool is_full() const noexcept {
    return (word_.load(std::memory_order_relaxed) & full) != 0;
  }

  /// Effects: it holds none. Returns: what it held.
  [[nodiscard]] content take() noexcept {
    // Relaxed: what is in the batch was written by the owner itself.
    return content_of(word_.exchange(0, std::memory_order_relaxed));
  }

  /// Requires: it holds none.
  void put(content added) noexcept {
    expects([&] { return word_.load(std::memory_order_relaxed) == 0; }, "it holds no batch yet");
    // Release: pairs with the acquire of take_if_old. The thread that takes the batch sees the
    // addresses in it.
    word_.store(reinterpret_cast<std::uintptr_t>(added.held) | (added.is_full ? full : 0),
                std::memory_order_release);
  }

  /// Effects: counts a look. Returns: the batch, which it does not hold any more, if there were
  /// `looks` of them before this one since the owner exchanged it. Requires: looks <= most_looks.
  [[nodiscard]] content take_if_old(std::uintptr_t looks) noexcept {
    expects(looks <= most_looks, "the looks can be counted");
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);
    if (seen == 0) return {};
    const bool is_old = (seen & all_looks) / one_look >= looks;
    // Acquire: pairs with the release of `put`. If it fails, the owner is using the batch.
    const bool changed = word_.compare_exchange_strong(
        seen, is_old ? 0 : seen + one_look, std::memory_order_acquire, std::memory_order_relaxed);
    return changed && is_old ? content_of(seen) : content{};
  }

  static constexpr std::uintptr_t most_looks = 3;

 private:
  static constexpr std::uintptr_t full = 1;
  static constexpr std::uintptr_t one_look = 2;
  static constexpr std::uintptr_t all_looks = most_looks * one_look;
  static_assert(alignof(batch) > (full | all_looks), "an address leaves room for the bits");

  static content content_of(std::uintptr_t word) noexcept {
    return {.held = reinterpret_cast<batch*>(word & ~(full | all_looks)),
            .is_full = (word & full) != 0};
  }

  std::atomic<std::uintptr_t> word_{0};
};

} // namespace heapwise::detail
