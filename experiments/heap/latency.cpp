// Every single malloc and free timed: what an average hides.
#include "sources/quantities.hpp"
#include "sources/single_calls.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

void set_quantiles(sample& the_sample, const heaps::timed_calls& calls) {
  constexpr std::pair<const char*, double> quantiles[] = {
      {"_p50", .5}, {"_p90", .9}, {"_p99", .99}, {"_p99_9", .999}, {"_p99_99", .9999}};
  for (const auto& [suffix, quantile] : quantiles) {
    the_sample.set(std::string{"alloc"} + suffix, calls.alloc_ns(quantile));
    the_sample.set(std::string{"free"} + suffix, calls.free_ns(quantile));
  }
  the_sample.set("alloc_max", calls.longest_alloc_ns());
  the_sample.set("free_max", calls.longest_free_ns());
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::size_t threads = the_cell.size("threads");
    const std::size_t rounds = the_cell.size("rounds");
    const heaps::thread_tapes tapes{small_and_medium, threads, the_cell.size("tape") / 2 * 2,
                                    the_cell.random()};
    heaps::timed_calls calls{threads};
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      meter.restart_peak();
      calls.measure<Source>(the_sample, tapes, rounds);
      set_quantiles(the_sample, calls);
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", calls.count() == rounds * tapes.operations(), "{} calls of {} timed",
                     calls.count(), rounds * tapes.operations());
      the_cell.expect_calls(rounds * tapes.allocations());
    });
  }
};

const experiment question{
    .id = "heap/latency",
    .question = "How long can a single malloc or free take?",
    .isolates =
        "The spread of single calls: rl_small and rl_medium in one mix, random blocks freed, at "
        "most 6144 live on a thread.",
    .not_shown =
        "Waiting of requests behind a slow one (a closed loop, no service). Each figure holds one "
        "reading of the processor's counter, about 20 ns where it is slow, which is not "
        "subtracted: ratios of medians understate. Where the counter goes on by steps (10 ns on "
        "some machines), readings are taken as spread evenly over a step. Rare figures are what "
        "the system did in between as much as the allocator: compare them with those of others, "
        "over many rounds. An allocation includes one byte written to the block.",
    .parameters = {{"threads", "threads at once, each with a tape of its own", {1, 2}, {1, 2}},
                   {"tape", "operations on the tape of a thread", {500'000}, {40'000}, "", 2},
                   {"rounds", "how often it is played", {2}, {1}}},
    .quantities = {{"alloc_p50", "ns", better::lower, "half of the allocations took at most this"},
                   {"alloc_p90", "ns", better::lower, "9 of 10"},
                   {"alloc_p99", "ns", better::lower, "99 of 100"},
                   {"alloc_p99_9", "ns", better::lower, "999 of 1000"},
                   {"alloc_p99_99", "ns", better::lower, "9999 of 10000"},
                   {"alloc_max", "ns", better::lower, "all of them"},
                   {"free_p50", "ns", better::lower, "half of the frees took at most this"},
                   {"free_p90", "ns", better::lower, "9 of 10"},
                   {"free_p99", "ns", better::lower, "99 of 100"},
                   {"free_p99_9", "ns", better::lower, "999 of 1000"},
                   {"free_p99_99", "ns", better::lower, "9999 of 10000"},
                   {"free_max", "ns", better::lower, "all of them"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
