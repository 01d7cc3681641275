// Which remedy for the refill bottleneck helps, and by how much: table 1 of AllocatorBench,
// continued.
#include "sources/subjects.hpp"
#include "sources/workloads.hpp"

namespace {

using namespace hybrids;

/// Not timed: whether the blocks were blocks, and how much of them is usable. Its allocator is its
/// own.
template <class Source>
inspection check_work(cell& the_cell, const workload& work) {
  Source source{work.how()};
  std::atomic<std::uint64_t> whole{0};
  std::atomic<std::uint64_t> usable{0};
  run_team(work.threads(), [&](team_member& member) {
    member.start();
    const inspection seen = work.inspect(source, static_cast<std::size_t>(member.index()));
    member.stop();
    whole += seen.whole_blocks;
    usable += seen.usable_bytes;
  });
  const std::uint64_t all = work.allocations() / work.rounds();
  the_cell.check("work", whole == all, "{} whole blocks of {}", whole.load(), all);
  if (Source::calls_malloc) the_cell.expect_calls(all);
  return {whole, usable};
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    if (the_cell.text("workload") == alignment64.name) {
      measure<typename Source::template aligned_to<alignment64.alignment>>::play(the_cell);
    } else {
      play(the_cell);
    }
  }

  static void play(cell& the_cell) {
    const workload work{the_cell};
    if (Source::calls_malloc && work.grows()) {
      the_cell.refuse("workload", "growth is of a new allocator, and malloc is never new");
    }
    const inspection seen = check_work<Source>(the_cell, work);
    timed_calls calls{static_cast<std::size_t>(work.threads())};
    the_cell.each_repeat([&](sample& the_sample) {
      Source source{work.how()};
      if (!work.grows()) warm_up(source, work);
      the_sample.set("throughput", throughput(the_sample, source, work));
      the_sample.set_processor_time(work.operations());
      if (work.grows()) {
        Source fresh{work.how()};
        set_durations(the_sample, fresh, work, calls);
      } else {
        set_durations(the_sample, source, work, calls);
      }
      the_sample.set("overhead_ratio", static_cast<double>(seen.usable_bytes) /
                                           static_cast<double>(work.requested_bytes()));
      the_sample.set("peak_live", static_cast<double>(work.peak_live_bytes()));
      if (Source::calls_malloc) {
        the_cell.expect_calls(work.allocations() + 2 * (work.allocations() / work.rounds()));
      }
    });
  }

  static double throughput(sample& the_sample, Source& source, const workload& work) {
    start_line all_grown{work.threads()};
    const std::uint64_t elapsed_ns =
        the_sample.measure_team(work.threads(), work.operations(), [&](team_member& member) {
          member.start();
          work.play(source, static_cast<std::size_t>(member.index()), all_grown);
          member.stop();
        });
    return 1e3 * static_cast<double>(work.operations()) / static_cast<double>(elapsed_ns);
  }

  /// In a pass of their own: a reading of the clock costs as much as a call.
  static void set_durations(sample& the_sample, Source& source, const workload& work,
                            timed_calls& calls) {
    calls.measure(the_sample, work.operations_of_round(),
                  [&](team_member& member, call_durations& into) {
                    member.start();
                    work.play_timed(source, static_cast<std::size_t>(member.index()), into);
                    member.stop();
                  });
    the_sample.set("alloc_p50", calls.alloc_ns(.5));
    the_sample.set("alloc_p99", calls.alloc_ns(.99));
    the_sample.set("free_p50", calls.free_ns(.5));
    the_sample.set("free_p99", calls.free_ns(.99));
  }

  /// Each tape once, so that an allocator has what it needs from the system, as malloc has.
  static void warm_up(Source& source, const workload& work) {
    run_team(work.threads(), [&](team_member& member) {
      member.start();
      static_cast<void>(work.inspect(source, static_cast<std::size_t>(member.index())));
      member.stop();
    });
  }
};

std::vector<subject> subjects() {
  std::vector<subject> all = strategies<measure>();
  all.push_back({"malloc", "malloc", measure<system_malloc<>>::run, "", subject_kind::malloc});
  return all;
}

const experiment question{
    .id = "hybrid/refill",
    .question = "Which way to refill the lists of a shared allocator lets threads scale?",
    .isolates =
        "One allocator, one routing, one cache; only how lists and slabs get their blocks "
        "differs.",
    .not_shown =
        "Where threads meet: hybrid/meetings counts that, and the counts do not depend on the "
        "machine's mood. Each repeat has a new allocator, which plays every tape once before the "
        "clock starts. growth is of a new allocator, page faults included, so malloc, which keeps "
        "memory from one repeat to the next, has no row there. reserved has a thread that carves "
        "ahead: throughput leaves its work out, processor_time counts it. "
        "Only with more processors than threads "
        "is scaling to be seen; beyond, waiting shows, above all for a lock whose holder was "
        "interrupted. Percentiles are of single calls in a pass of their own, and hold one reading "
        "of the processor's counter. disjoint has eight lists, so from 9 threads on two of them "
        "share one. AllocatorBench does not say how its slabs were locked or what its benchmark "
        "did between the calls: compare ratios.",
    .parameters = parameters(),
    .quantities = {{"throughput", "Mops/s", better::higher,
                    "allocations and frees of all threads, each counted as one, in a microsecond"},
                   processor_time,
                   {"alloc_p50", "ns", better::lower, "half of the allocations took at most this"},
                   {"alloc_p99", "ns", better::lower, "99 of 100"},
                   {"free_p50", "ns", better::lower, "half of the frees took at most this"},
                   {"free_p99", "ns", better::lower, "99 of 100"},
                   {"overhead_ratio", "x", better::lower,
                    "bytes usable over bytes requested, all blocks"},
                   {"peak_live", "bytes", better::lower,
                    "the most that is requested at once: the workload's, the same for all"}},
    .subjects = subjects(),
    .baseline = "global_lock",
    .repeats = 3,
    .answers = {{.quantity = "throughput", .subject = "sharded", .over = "global_lock"},
                {.quantity = "throughput", .subject = "class_arena", .over = "global_lock"},
                {.quantity = "throughput", .subject = "lock_free_refill", .over = "global_lock"},
                {.quantity = "throughput", .subject = "reserved", .over = "global_lock"}},
    .work_parameters = {"workload"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
