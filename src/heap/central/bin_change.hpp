// Holding a bin, and what is left to do when it is let go.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "heap/base/linked.hpp"
#include "heap/central/bin.hpp"
#include "heap/central/bins.hpp"
#include "heap/checks/span_guard.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Holds the lock of a bin. What needs another lock or a counter of the whole heap is done once,
/// and after the bin is free for others: empty spans go to the space, and the sums over all bins
/// change.
class bin::change {
 public:
  change(bin& changed, size_class class_index) noexcept
      : change{lock(changed), class_index, std::adopt_lock} {}

  /// Requires: the lock is held. The change lets it go.
  change(bin& changed, size_class class_index, std::adopt_lock_t /*held*/) noexcept
      : bin_{changed},
        class_{class_index},
        free_before_{changed.free_blocks_.load(std::memory_order_relaxed)},
        stocked_before_{changed.stocked_.load(std::memory_order_relaxed)} {
    expects_held(changed.lock_);
  }

  change(const change&) = delete;
  change& operator=(const change&) = delete;

  ~change() {
    if constexpr (checks >= strength::cheap) {
      expects(bin_.is_plausible(class_), "a bin counts what it has");
    }
    if constexpr (checks >= strength::expensive) {
      expects(bin_.is_sound_locked(class_), "a bin's spans and batches are as it says");
    }
    const class_facts& facts = class_table[class_];
    // Where fewer are left than before, the difference wraps around, and so does the sum.
    const std::size_t free = bin_.free_blocks_.load(std::memory_order_relaxed) - free_before_;
    const std::uint32_t stocked_now = bin_.stocked_.load(std::memory_order_relaxed);
    const std::ptrdiff_t stocked = std::ptrdiff_t{stocked_now} - std::ptrdiff_t{stocked_before_};
    bin_.lock_.unlock();
    if (free != 0) the_bin_sums[bin_.shard_].add_free(free * facts.bytes);
    if (stocked != 0) bin_.count_stocked(stocked, class_);
    while (!dissolved_.is_empty()) give_small_span(dissolved_.pop());
  }

  /// Requires: the span is not in the bin any more.
  void give(span& dissolved) noexcept {
    expects([&] { return dissolved.use.load(std::memory_order_relaxed) == slice_use::none; },
            "a span that leaves is in no state");
    dissolved_.push(dissolved);
  }

 private:
  static bin& lock(bin& changed) noexcept {
    changed.lock_.lock(); // not by a std::unique_lock, which would need the C++ runtime
    return changed;
  }

  bin& bin_;
  size_class class_;
  std::size_t free_before_;
  std::uint32_t stocked_before_;
  linked_stack<span> dissolved_;
};

} // namespace heapwise::detail
