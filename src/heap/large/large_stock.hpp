// Large blocks of few slices that were freed. The next request for as many slices takes one of
// them, and asks the space for nothing: that has one lock for the whole process.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heap/base/linked.hpp"
#include "heap/base/profile.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/sharing.hpp"
#include "heap/large/large_guard.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// To the space their slices are in use. The page behind a block stays hidden while it waits
/// (large_guard.hpp), and its record says how many bytes it had. Thread safety: all.
class alignas(cache_line_bytes) large_stock {
 public:
  /// Longer blocks are not kept: to touch them costs more than any lock. 1 MiB, and slices for what
  /// is hidden behind it.
  static constexpr std::size_t most_slices =
      chosen_profile.guards_large ? 17 + most_gap_slices : 16;

  /// Returns: a span of this length that was kept, or nullptr. Its pages are not zero.
  /// Requires: 0 < slices <= most_slices.
  [[nodiscard]] span* take(std::size_t slices) noexcept;

  /// Effects: keeps a span whose block was freed, if there is room. Returns: whether it did.
  /// Requires: at most most_slices, none of them a piece (span::pieces).
  [[nodiscard]] bool keep(span& freed) noexcept;

  /// Returns: the slice that waits for the next block that grows, or nullptr.
  [[nodiscard]] span* take_to_grow() noexcept {
    // Acquire: pairs with the release in keep_to_grow. The record is as the last owner left it.
    return to_grow_.exchange(nullptr, std::memory_order_acquire);
  }

  /// Effects: keeps the slice of a growing block that was freed, if none waits.
  /// Returns: whether it did. Requires: one slice, not a piece (span::pieces).
  [[nodiscard]] bool keep_to_grow(span& freed) noexcept {
    expects(freed.slices == 1 && freed.pieces == 0, "a slice in one piece waits");
    span* none = nullptr;
    // Release: pairs with the acquire in take_to_grow.
    return to_grow_.compare_exchange_strong(none, &freed, std::memory_order_release,
                                            std::memory_order_relaxed);
  }

  /// Effects: gives to the space what nobody needed since the last call.
  void trim() noexcept;

  /// Returns: the bytes of all that is kept.
  [[nodiscard]] std::size_t bytes() const noexcept {
    const std::size_t waiting = to_grow_.load(std::memory_order_relaxed) == nullptr ? 0 : 1;
    return (kept_.load(std::memory_order_relaxed) + waiting) * slice_bytes;
  }

  /// Taken around a fork. Order: no other lock is taken while it is held.
  heap_mutex<shared::large_stock>& lock() noexcept { return lock_; }

 private:
  /// Of all lengths together. A few buffers for each processor of the shard.
  static constexpr std::uint32_t most_kept = 32;

  [[nodiscard]] span* pop(std::size_t slices) noexcept;
  [[nodiscard]] span* take_unneeded() noexcept;

  heap_mutex<shared::large_stock> lock_;
  std::atomic<std::uint32_t> kept_{0};                // slices; written under the lock
  std::uint32_t least_kept_ = 0;                      // since the last trim
  std::array<linked_stack<span>, most_slices> spans_; // by their slices
  std::atomic<span*> to_grow_{nullptr};               // without the lock
};

static_assert(sizeof(large_stock) % cache_line_bytes == 0, "no two stocks share a line");

/// One for each shard. If there is one shard only, nothing waits but the slice of a block that
/// grew, unless the profile hides pages behind large blocks.
extern std::array<large_stock, most_shards> the_large_stocks;

/// Effects: trims all.
void trim_large_stocks() noexcept;

[[nodiscard]] std::size_t stocked_large_bytes() noexcept;

} // namespace heapwise::detail
