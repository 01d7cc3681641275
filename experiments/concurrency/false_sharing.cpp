// Counters that nobody shares, on a line that everybody shares.
//
// build: with_sanitizers
#include <atomic>
#include <string_view>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/contest.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

constexpr std::size_t line_bytes = 64;

struct by_fetch_add {
  static void step(std::atomic<std::uint64_t>& count) noexcept {
    count.fetch_add(1, std::memory_order_relaxed);
  }
};

/// What a thread may do with a counter that only it writes.
struct by_load_and_store {
  static void step(std::atomic<std::uint64_t>& count) noexcept {
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
};

/// One function for all distances: not even the code of the loop differs.
template <class How>
void measure_with(cell& the_cell, std::size_t distance_bytes) {
  using counter = std::atomic<std::uint64_t>;
  const std::size_t distance = distance_bytes / sizeof(counter);
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const processors where{the_cell, the_cell.size("threads")};
  the_cell.each_repeat([&](sample& the_sample) {
    const mapped_array<counter> counters{the_cell.size("threads") * distance};
    const contest_result done = run_contest(the_cell, the_sample, where, threads, [&](int index) {
      return [&count = counters[static_cast<std::size_t>(index) * distance]] { How::step(count); };
    });
    the_sample.set("throughput", done.throughput());
    std::uint64_t counted = 0;
    for (const auto& each : counters) counted += each;
    the_cell.check("work", counted == done.steps, "the counters add up to {} of {} increments",
                   counted, done.steps);
  });
}

template <std::size_t DistanceBytes>
void measure(cell& the_cell) {
  if (the_cell.text("increment") == "fetch_add") {
    measure_with<by_fetch_add>(the_cell, DistanceBytes);
  } else {
    measure_with<by_load_and_store>(the_cell, DistanceBytes);
  }
}

void measure_empty_loop(cell& the_cell) {
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const processors where{the_cell, the_cell.size("threads")};
  the_cell.each_repeat([&](sample& the_sample) {
    const contest_result done = run_contest(the_cell, the_sample, where, threads,
                                            [](int index) { return [index] { keep(index); }; });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", done.steps != 0, "{} turns without an increment", done.steps);
  });
}

const experiment question{
    .id = "concurrency/false_sharing",
    .question = "What does it cost when the counters of two threads lie on one cache line?",
    .isolates =
        "The line's way between two cores: every thread increments a counter of its own, each "
        "thread kept on a core of its own, the distance of the counters is all that differs.",
    .not_shown =
        "Counters that are shared (concurrency/mutex_vs_atomic). With one thread all layouts must "
        "be the same: a control. fetch_add has to own the line before it goes on, so it shows the "
        "whole of the cost; a load and a store leave the waiting to the store buffer, which hides "
        "part of it. Lines are 64 bytes here; two_lines says whether the processor fetches lines "
        "in pairs.",
    .parameters = {{"threads", "threads at once", {1, 2}, {1, 2}},
                   {"increment",
                    "how a thread adds to its counter",
                    {"fetch_add", "load_and_store"},
                    {"fetch_add", "load_and_store"}},
                   duration(12)},
    .quantities = {throughput("increments of all threads")},
    .subjects = {{"adjacent", "8 bytes apart, on one line", measure<sizeof(std::uint64_t)>},
                 {"padded", "64 bytes apart, a line each", measure<line_bytes>},
                 {"two_lines", "128 bytes apart, a pair of lines each", measure<2 * line_bytes>},
                 {"empty_loop", "the loop without an increment", measure_empty_loop}},
    .baseline = "adjacent",
    .expectations = {{.says = "a line for each counter is at least twice as fast",
                      .quantity = "throughput",
                      .subject = "padded",
                      .over = "adjacent",
                      .parameters = {{"threads", 2}, {"increment", "fetch_add"}},
                      .at_least = 2.0},
                     {.says = "without another thread the distance does not matter",
                      .quantity = "throughput",
                      .subject = "padded",
                      .over = "adjacent",
                      .parameters = {{"threads", 1}},
                      .at_least = 0.9,
                      .at_most = 1.1}},
    .answers = {{.quantity = "throughput",
                 .subject = "padded",
                 .over = "adjacent",
                 .parameters = {{"threads", 2}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
