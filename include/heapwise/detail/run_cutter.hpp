// Fresh blocks for the thread caches of a pool.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

#include <heapwise/detail/chunks.hpp>

namespace heapwise::detail::inline v0_2 {

/// Cuts runs of blocks that were never handed out, in address order, and lets the pool grow.
/// Thread safety: one thread at a time calls `cut` and `restart`, the pool has a lock; `carved`
/// all.
class run_cutter {
 public:
  /// Neighbours; none if first == end.
  struct run {
    std::byte* first = nullptr;
    std::byte* end = nullptr;
  };

  /// most_blocks: the longest run.
  run_cutter(chunks& from, std::size_t most_blocks) noexcept
      : chunks_{&from}, most_blocks_{most_blocks} {}

  /// Returns: how many blocks a run of a pool of this capacity has.
  [[nodiscard]] std::size_t run_blocks(std::size_t capacity) const noexcept {
    return std::clamp<std::size_t>(capacity / 16, 1, most_blocks_);
  }

  /// Returns: how many blocks were cut, of all chunks together: those with an index below that.
  [[nodiscard]] std::size_t carved() const noexcept {
    // Relaxed: a thread that asks about a block got it from the thread that cut it, so it sees a
    // count that includes the block.
    return carved_.load(std::memory_order_relaxed);
  }

  /// Returns: a run, an empty one if the pool is exhausted.
  run cut() noexcept {
    const std::size_t so_far = carved();
    if (carving_ == nullptr) carving_ = chunks_->holding(so_far == 0 ? 0 : so_far - 1);
    if (so_far == carving_->first_index + carving_->blocks) {
      chunk* const next = chunks_->holding_or_grow(so_far);
      if (next == nullptr) return {};
      carving_ = next;
    }
    const std::size_t offset = so_far - carving_->first_index;
    const std::size_t blocks = std::min(run_blocks(chunks_->capacity()), carving_->blocks - offset);
    const std::size_t stride_bytes = chunks_->shape().stride_bytes;
    carved_.store(so_far + blocks, std::memory_order_relaxed);
    std::byte* const first = carving_->base + offset * stride_bytes;
    return {first, first + blocks * stride_bytes};
  }

  /// Effects: the blocks from index `carved` on were never cut.
  void restart(std::size_t carved) noexcept {
    carved_.store(carved, std::memory_order_relaxed);
    carving_ = nullptr;
  }

 private:
  chunks* chunks_;
  std::size_t most_blocks_;
  std::atomic<std::size_t> carved_{0};
  chunk* carving_ = nullptr; ///< nullptr: not known
};

} // namespace heapwise::detail::inline v0_2
