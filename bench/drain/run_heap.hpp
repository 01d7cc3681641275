// The rings that have calls to read, the one with the earliest call first.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace heapwise::bench {

/// What is known to be in the ring of a slot.
struct ring_run {
  unsigned slot;
  std::uint64_t end;   ///< of its events
  std::uint64_t order; ///< call::order of its next call
};

/// A binary heap. If threads call at the same time, nearly each call is of another ring than the
/// one before: so the first run goes down in its place, instead of out of the heap and into it.
class run_heap {
 public:
  [[nodiscard]] bool empty() const noexcept { return runs_.empty(); }

  /// The run with the least order. The next functions expect that there is one.
  [[nodiscard]] ring_run& first() noexcept { return runs_[0]; }

  /// The least order of the other runs, or UINT64_MAX.
  [[nodiscard]] std::uint64_t next_order() const noexcept {
    std::uint64_t least = UINT64_MAX;
    if (runs_.size() > 1) least = runs_[1].order;
    if (runs_.size() > 2) least = std::min(least, runs_[2].order);
    return least;
  }

  /// To be called when the order of first() has grown.
  void sink_first() noexcept {
    const ring_run sinking = runs_[0];
    std::size_t at = 0;
    for (std::size_t child = 1; child < runs_.size(); child = 2 * at + 1) {
      if (child + 1 < runs_.size() && runs_[child + 1].order < runs_[child].order) ++child;
      if (sinking.order <= runs_[child].order) break;
      runs_[at] = runs_[child];
      at = child;
    }
    runs_[at] = sinking;
  }

  void remove_first() noexcept {
    runs_[0] = runs_.back();
    runs_.pop_back();
    if (!runs_.empty()) sink_first();
  }

  void add(const ring_run& next) {
    std::size_t at = runs_.size();
    runs_.push_back(next);
    for (; at != 0 && next.order < runs_[(at - 1) / 2].order; at = (at - 1) / 2) {
      std::swap(runs_[at], runs_[(at - 1) / 2]);
    }
  }

  void clear() noexcept { runs_.clear(); }

 private:
  std::vector<ring_run> runs_;
};

} // namespace heapwise::bench
