// The four workloads of AllocatorBench: one experiment each, all of one form.
#pragma once

#include <algorithm>
#include <atomic>
#include <string_view>

#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/single_calls.hpp"
#include "sources/sources.hpp"
#include "sources/thread_tapes.hpp"
#include "workload/block_use.hpp"
#include "workload/replay.hpp"

namespace heaps {

using namespace heapwise::bench;

/// Plays the tapes once without a clock: what was resident when all threads held the most at once,
/// how much more is usable than was asked for, and whether all blocks stayed whole.
template <class Source>
class inspection {
 public:
  inspection(const thread_tapes& tapes, std::size_t alignment, resident_meter& meter)
      : tapes_{&tapes}, alignment_{alignment}, meter_{&meter} {
    const auto threads = static_cast<int>(tapes.threads());
    start_line all_at_peak{threads};
    start_line all_counted{threads};
    run_team(threads, [&](team_member& member) {
      member.start();
      play(static_cast<std::size_t>(member.index()), all_at_peak, all_counted);
      member.stop();
    });
  }

  [[nodiscard]] std::uint64_t resident_bytes() const noexcept { return resident_bytes_; }
  [[nodiscard]] std::uint64_t usable_bytes() const noexcept { return usable_bytes_; }
  /// Blocks that were aligned and bore their mark to the end.
  [[nodiscard]] std::uint64_t whole_blocks() const noexcept { return whole_blocks_; }

 private:
  void play(std::size_t thread, start_line& all_at_peak, start_line& all_counted) {
    const tape& plays = tapes_->of(thread);
    Source source;
    play_part(source, plays.operations.first(plays.peak_at), tapes_->slots(thread));
    all_at_peak.arrive_and_wait();
    if (thread == 0) resident_bytes_ = meter_->now();
    all_counted.arrive_and_wait();
    play_part(source, plays.operations.subspan(plays.peak_at), tapes_->slots(thread));
  }

  void play_part(Source& source, std::span<const operation> part, void** slots) {
    std::uint64_t usable = 0;
    std::uint64_t whole = 0;
    for (const operation each : part) {
      void*& slot = slots[each.slot()];
      const unsigned char its_mark = mark_of(each.slot());
      if (each.frees()) {
        whole += is_marked(slot, each.bytes(), its_mark) && is_aligned(slot, alignment_) ? 1 : 0;
        source.deallocate(slot, each.bytes());
      } else {
        slot = source.allocate(each.bytes());
        mark(slot, each.bytes(), its_mark);
        usable += Source::usable(slot);
      }
    }
    // relaxed: the sums are read after the threads were joined.
    usable_bytes_.fetch_add(usable, std::memory_order_relaxed);
    whole_blocks_.fetch_add(whole, std::memory_order_relaxed);
  }

  const thread_tapes* tapes_;
  std::size_t alignment_;
  resident_meter* meter_;
  std::uint64_t resident_bytes_ = 0; // written by thread 0 alone, read after it was joined
  std::atomic<std::uint64_t> usable_bytes_{0};
  std::atomic<std::uint64_t> whole_blocks_{0};
};

template <class Source, touching how>
void measure_throughput(sample& the_sample, const thread_tapes& tapes, std::size_t rounds) {
  const std::uint64_t operations = rounds * tapes.operations();
  const std::uint64_t elapsed_ns = the_sample.measure_team(
      static_cast<int>(tapes.threads()), operations, [&](team_member& member) {
        const auto index = static_cast<std::size_t>(member.index());
        Source source;
        member.start();
        for (std::size_t round = 0; round < rounds; ++round) {
          replay<how>(source, tapes.of(index).operations, tapes.slots(index));
        }
        member.stop();
      });
  the_sample.set("throughput", mops(operations, elapsed_ns));
  the_sample.set_processor_time(operations);
}

/// Plays the tapes in each repeat. `also` sets what else the sample has.
template <class Source, class Also>
void measure_tapes(cell& the_cell, const thread_tapes& tapes, std::size_t alignment, Also&& also) {
  constexpr std::size_t mallocs_own_alignment = 16;
  const std::size_t rounds =
      std::max<std::size_t>(1, the_cell.size("operations") / tapes.operations());
  timed_calls calls{tapes.threads()};
  resident_meter meter;
  the_cell.each_repeat([&](sample& the_sample) {
    meter.restart_peak();
    const inspection<Source> seen{tapes, std::max(alignment, mallocs_own_alignment), meter};
    with_touching(the_cell, [&]<touching how> {
      measure_throughput<Source, how>(the_sample, tapes, rounds);
    });
    calls.measure<Source>(the_sample, tapes, 1);
    the_sample.set("alloc_p50", calls.alloc_ns(.5));
    the_sample.set("alloc_p99", calls.alloc_ns(.99));
    the_sample.set("free_p50", calls.free_ns(.5));
    the_sample.set("free_p99", calls.free_ns(.99));
    the_sample.set("overhead_ratio", ratio(seen.usable_bytes(), tapes.requested_bytes()));
    the_sample.set("peak_live", static_cast<double>(tapes.peak_live_bytes()));
    the_sample.set("resident_over_live", ratio(seen.resident_bytes(), tapes.peak_live_bytes()));
    set_peak(the_sample, meter);
    also(the_sample);
    the_cell.check(
        "work", seen.whole_blocks() == tapes.allocations() && calls.count() == tapes.operations(),
        "{} whole blocks of {}, {} calls timed", seen.whole_blocks(), tapes.allocations(),
        calls.count());
    the_cell.expect_calls((rounds + 2) * tapes.allocations());
  });
}

template <class Source>
void measure_mix(cell& the_cell, const size_mix& mix) {
  const thread_tapes tapes{mix, the_cell.size("threads"), the_cell.size("tape") / 2 * 2,
                           the_cell.random()};
  measure_tapes<Source>(the_cell, tapes, mix.alignment, [](sample&) {});
}

inline std::vector<quantity> mix_quantities() {
  return {{"throughput", "Mops/s", better::higher,
           "allocations and frees of all threads, each counted as one, in a microsecond"},
          heapwise::bench::processor_time,
          {"alloc_p50", "ns", better::lower, "half of the allocations took at most this"},
          {"alloc_p99", "ns", better::lower, "99 of 100"},
          {"free_p50", "ns", better::lower, "half of the frees took at most this"},
          {"free_p99", "ns", better::lower, "99 of 100"},
          {"overhead_ratio", "x", better::lower, "bytes usable over bytes requested, all blocks"},
          {"peak_live", "bytes", better::lower,
           "the most that is requested at once: the same for all, it is the workload's"},
          {"resident_over_live", "x", better::lower,
           "memory resident when all threads hold their most, over peak_live"},
          peak_resident};
}

/// What tells one of the four from the others.
struct mix_case {
  std::string_view id;
  std::string_view question;
  std::string_view isolates;
  std::vector<subject> subjects;       ///< as sources.hpp gives them
  std::int64_t operations = 4'000'000; ///< of all threads together
  std::int64_t tape = 100'000;         ///< long enough for its thread to reach the live limit
};

inline experiment mix_experiment(mix_case is) {
  return {
      .id = is.id,
      .question = is.question,
      .isolates = is.isolates,
      .not_shown =
          "Blocks that another thread frees (heap/cross_thread_free) and sizes that change with "
          "time (heap/size_shift): each thread plays a tape of its own, which frees random blocks "
          "of its own. The loop itself costs 1 to 2 ns an operation, and as a random operation is "
          "an allocation or a free, a mispredicted branch. With more threads than processors the "
          "figures also hold the scheduler: percentiles are of single calls in a pass of their "
          "own, and hold one reading of the processor's counter, which is not subtracted. "
          "Resident memory holds the threads' stacks, the same for all. Tapes end with nothing "
          "live; AllocatorBench's programs are not known to.",
      .parameters = {{"threads", "threads at once", {1, 2, 4, 8, 16}, {1, 2}},
                     {"operations",
                      "operations that all threads are timed for, together; whole tapes",
                      {is.operations},
                      {80'000}},
                     {"tape", "operations on the tape of a thread", {is.tape}, {20'000}, "", 2},
                     tape_touch_parameter()},
      .quantities = mix_quantities(),
      .subjects = std::move(is.subjects),
      .baseline = baseline,
      .repeats = 3,
  };
}

} // namespace heaps
