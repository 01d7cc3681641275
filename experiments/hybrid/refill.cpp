// Which remedy for the refill bottleneck helps, and by how much: table 1 of AllocatorBench,
// continued.
#include "sources/subjects.hpp"
#include "sources/workloads.hpp"

namespace {

using namespace hybrids;

/// Not timed: whether the blocks were blocks. Its allocator is its own.
template <class Source>
void check_work(cell& given, const workload& work) {
  Source source{work.how()};
  std::atomic<std::uint64_t> whole{0};
  run_team(work.threads(), [&](team_member& member) {
    member.start();
    whole += work.inspect(source, static_cast<std::size_t>(member.index()));
    member.stop();
  });
  const std::uint64_t all = work.allocations() / work.rounds();
  given.check("work", whole == all, "%llu whole blocks of %llu",
              static_cast<unsigned long long>(whole.load()), static_cast<unsigned long long>(all));
  if (Source::calls_malloc) given.expect_calls(all);
}

template <class Source>
struct measure {
  static void run(cell& given) {
    const workload work{given};
    if (Source::calls_malloc && work.grows()) {
      given.refuse("workload", "growth is of a new allocator, and malloc is never new");
    }
    check_work<Source>(given, work);
    given.each_repeat([&](sample& yields) {
      Source source{work.how()};
      if (!work.grows()) warm_up(source, work);
      start_line all_grown{work.threads()};
      const std::uint64_t elapsed_ns =
          yields.measure_team(work.threads(), work.operations(), [&](team_member& member) {
            member.start();
            work.play(source, static_cast<std::size_t>(member.index()), all_grown);
            member.stop();
          });
      yields.set("throughput",
                 1e3 * static_cast<double>(work.operations()) / static_cast<double>(elapsed_ns));
      yields.set_processor_time(work.operations());
      if (Source::calls_malloc) {
        given.expect_calls(work.allocations() + work.allocations() / work.rounds());
      }
    });
  }

  /// Each tape once, so that an allocator has what it needs from the system, as malloc has.
  static void warm_up(Source& source, const workload& work) {
    run_team(work.threads(), [&](team_member& member) {
      member.start();
      work.inspect(source, static_cast<std::size_t>(member.index()));
      member.stop();
    });
  }
};

std::vector<subject> subjects() {
  std::vector<subject> all = strategies<measure>();
  all.push_back({"malloc", "malloc", measure<system_malloc>::run, "", subject_kind::malloc});
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
        "interrupted. AllocatorBench does not say how its slabs were locked or what its benchmark "
        "did "
        "between the calls: compare ratios.",
    .parameters = parameters(),
    .quantities = {{"throughput", "Mops/s", better::higher,
                    "allocations and frees of all threads, each counted as one, in a microsecond"},
                   processor_time},
    .subjects = subjects(),
    .baseline = "global_lock",
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
