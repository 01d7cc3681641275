// Every single call of a tape timed, on several threads.
#pragma once

#include <cstdint>
#include <string>

#include "harness/histogram.hpp"
#include "harness/sample.hpp"
#include "kernel/ticks.hpp"
#include "sources/thread_tapes.hpp"

namespace heaps {

using durations = heapwise::bench::histogram<8>;

struct call_durations {
  durations allocations;
  durations frees;
};

/// Plays a tape. Between two readings of the clock stand a call of the source and, for an
/// allocation, the first write to the block: a source that maps memory which is not there yet has
/// its page fault timed.
template <class Source>
void replay_timed(Source& source, const heapwise::bench::tape& plays, void** slots,
                  call_durations& into) {
  using heapwise::bench::now_ticks;
  for (const heapwise::bench::operation each : plays.operations) {
    void*& slot = slots[each.slot()];
    // The clock starts in each branch: a branch that was mispredicted is the tape's cost.
    if (each.frees()) {
      const std::uint64_t start = now_ticks();
      source.deallocate(slot, each.bytes());
      heapwise::bench::clobber();
      into.frees.record(now_ticks() - start);
    } else {
      const std::uint64_t start = now_ticks();
      slot = source.allocate(each.bytes());
      heapwise::bench::touch(slot);
      heapwise::bench::escape(slot);
      into.allocations.record(now_ticks() - start);
    }
  }
}

/// The calls of all threads in one: their distribution in nanoseconds.
class timed_calls {
 public:
  explicit timed_calls(std::size_t threads) : of_threads_{threads}, all_{1} {}

  /// Plays every tape `rounds` times, each on a thread of its own.
  template <class Source>
  void measure(heapwise::bench::sample& yields, const thread_tapes& tapes, std::size_t rounds) {
    for (call_durations& each : of_threads_) each = {};
    const heapwise::bench::tick_scale learning;
    yields.measure_team(static_cast<int>(tapes.threads()), rounds * tapes.operations(),
                        [&](heapwise::bench::team_member& member) {
                          const auto index = static_cast<std::size_t>(member.index());
                          Source source;
                          member.start();
                          for (std::size_t round = 0; round < rounds; ++round) {
                            replay_timed(source, tapes.of(index), tapes.slots(index),
                                         of_threads_[index]);
                          }
                          member.stop();
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
  [[nodiscard]] double ns(const durations& of, double quantile) const {
    return ns_per_tick_ * of.spread_at(quantile, step_);
  }

  [[nodiscard]] double longest_ns(const durations& of) const {
    return ns_per_tick_ * static_cast<double>(of.max());
  }

  heapwise::bench::mapped_array<call_durations> of_threads_;
  heapwise::bench::mapped_array<call_durations> all_;
  std::uint64_t step_ = heapwise::bench::tick_step();
  double ns_per_tick_ = 0;
};

} // namespace heaps
