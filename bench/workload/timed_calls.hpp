// Every single call of a tape timed, on several threads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/escape.hpp"
#include "harness/histogram.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/sample.hpp"
#include "kernel/ticks.hpp"
#include "workload/tape.hpp"

namespace heapwise::bench {

using call_histogram = histogram<8>;

struct call_durations {
  call_histogram allocations;
  call_histogram frees;
};

/// Plays a tape. Between two readings of the clock stand a call of the source and, for an
/// allocation, the first write to the block: a source that maps memory which is not there yet has
/// its page fault timed.
template <class Source>
void replay_timed(Source& source, const tape& plays, void** slots, call_durations& into) {
  for (const operation each : plays.operations) {
    void*& slot = slots[each.slot()];
    // The clock starts in each branch: a branch that was mispredicted is the tape's cost.
    if (each.frees()) {
      const std::uint64_t start = now_ticks();
      source.deallocate(slot, each.bytes());
      clobber();
      into.frees.record(now_ticks() - start);
    } else {
      const std::uint64_t start = now_ticks();
      slot = source.allocate(each.bytes());
      touch(slot);
      escape(slot);
      into.allocations.record(now_ticks() - start);
    }
  }
}

/// The calls of all threads in one: their distribution in nanoseconds.
class timed_calls {
 public:
  explicit timed_calls(std::size_t threads) : of_threads_{threads}, all_{1} {}

  /// Times a team of all threads. `play(member, durations)` starts and stops its member, and
  /// records the calls of its thread.
  template <class Play>
  void measure(sample& the_sample, std::uint64_t operations, const Play& play) {
    for (call_durations& each : of_threads_) each = {};
    const tick_scale learning;
    the_sample.measure_team(static_cast<int>(of_threads_.size()), operations,
                            [&](team_member& member) {
                              play(member, of_threads_[static_cast<std::size_t>(member.index())]);
                            });
    ns_per_tick_ = learning.ns_per_tick();
    all_[0] = {};
    for (const call_durations& each : of_threads_) {
      all_[0].allocations.merge(each.allocations);
      all_[0].frees.merge(each.frees);
    }
  }

  [[nodiscard]] double alloc_ns(double quantile) const { return ns(all_[0].allocations, quantile); }
  [[nodiscard]] double free_ns(double quantile) const { return ns(all_[0].frees, quantile); }
  [[nodiscard]] double longest_alloc_ns() const { return longest_ns(all_[0].allocations); }
  [[nodiscard]] double longest_free_ns() const { return longest_ns(all_[0].frees); }
  [[nodiscard]] std::uint64_t count() const noexcept {
    return all_[0].allocations.count() + all_[0].frees.count();
  }

 private:
  [[nodiscard]] double ns(const call_histogram& histogram, double quantile) const {
    return ns_per_tick_ * histogram.spread_at(quantile, step_);
  }

  [[nodiscard]] double longest_ns(const call_histogram& histogram) const {
    return ns_per_tick_ * static_cast<double>(histogram.max());
  }

  mapped_array<call_durations> of_threads_;
  mapped_array<call_durations> all_;
  std::uint64_t step_ = tick_step();
  double ns_per_tick_ = 0;
};

} // namespace heapwise::bench
