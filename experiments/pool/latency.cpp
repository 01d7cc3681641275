// Every single operation timed: what an average hides.
#include <string>

#include "harness/histogram.hpp"
#include "harness/memory/mapped_array.hpp"
#include "sources/checks.hpp"
#include "sources/subjects.hpp"

namespace {

using namespace heapwise::bench;

using durations = histogram<8>;

/// Times `operation(block)` alone, for each block.
template <class Operation>
void time_each(const mapped_array<void*>& blocks, durations& into, Operation operation) {
  for (void*& block : blocks) {
    const std::uint64_t start_ns = now_ns();
    operation(block);
    escape(block);
    into.record(now_ns() - start_ns);
  }
}

void set_quantiles(sample& the_sample, const char* verb, const durations& latencies) {
  const auto set = [&](const char* suffix, std::uint64_t value) {
    the_sample.set(std::string{verb} + suffix, static_cast<double>(value));
  };
  set("_p50", latencies.at(0.5));
  set("_p90", latencies.at(0.9));
  set("_p99", latencies.at(0.99));
  set("_p99_9", latencies.at(0.999));
  set("_max", latencies.max());
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const bool growing = the_cell.text("growth") == "geometric";
    if (!growing && pools::grows_always<Source>) {
      the_cell.refuse("growth", "this allocator cannot be given all its blocks in advance");
    }
    const mapped_array<void*> blocks{the_cell.size("iterations")};
    const mapped_array<durations> into{2};
    the_cell.each_repeat(
        [&](sample& the_sample) { one_repeat(the_cell, the_sample, blocks, into, growing); });
  }

  static void one_repeat(cell& the_cell, sample& the_sample, const mapped_array<void*>& blocks,
                         const mapped_array<durations>& into, bool growing) {
    Source source{{.block_size = the_cell.size("block_size"),
                   .block_count = blocks.size(),
                   .growing = growing,
                   .first_count = the_cell.size("first_count")}};
    escape(&source);
    for (durations& each : into) each.clear();
    the_sample.measure(blocks.size(), [&] {
      time_each(blocks, into[0], [&](void*& block) {
        block = source.allocate();
        touch(block);
      });
    });
    const std::size_t distinct = pools::count_served(the_cell, the_sample, blocks.span());
    the_sample.measure(blocks.size(), [&] {
      time_each(blocks, into[1], [&](void* block) { source.deallocate(block); });
    });
    set_quantiles(the_sample, "alloc", into[0]);
    set_quantiles(the_sample, "free", into[1]);
    the_cell.check("work", distinct == blocks.size() && into[1].count() == blocks.size(),
                   "{} distinct blocks of {}, each timed", distinct, blocks.size());
    if (pools::calls_malloc<Source>) the_cell.expect_calls(blocks.size());
  }
};

const experiment question{
    .id = "pool/latency",
    .question = "How long can a single allocation or free take, and does growth show?",
    .isolates =
        "The spread of single operations on one thread: all blocks are taken, then all freed.",
    .not_shown =
        "Waiting of requests behind a slow one (this is a closed loop, no service). Every "
        "figure holds the reading of the clock (overhead_ns of the first line), which is not "
        "subtracted; durations are kept with an error of at most 1 in 128. The maximum of a "
        "million operations is mostly what the system did in between: compare it with that "
        "of the other subjects. An allocation is timed with the first byte written to its block: "
        "a page fault counts for the subject that writes to the page first. A pool of growth=fixed "
        "is "
        "made before, with the faults of whatever it writes then.",
    .parameters = {{"iterations", "operations of each kind", {1'000'000}, {4'000}},
                   {"block_size", "bytes of a block", {64}, {64}, "bytes", 8},
                   {"growth",
                    "fixed: all blocks in advance; geometric: starts small",
                    {"geometric", "fixed"},
                    {"geometric", "fixed"}},
                   {"first_count", "blocks at the start of a growing pool", {1024}, {256}}},
    .quantities = {{"alloc_p50", "ns", better::lower, "half of the allocations took at most this"},
                   {"alloc_p90", "ns", better::lower, "9 of 10"},
                   {"alloc_p99", "ns", better::lower, "99 of 100"},
                   {"alloc_p99_9", "ns", better::lower, "999 of 1000"},
                   {"alloc_max", "ns", better::lower, "all of them"},
                   {"free_p50", "ns", better::lower, "half of the frees took at most this"},
                   {"free_p90", "ns", better::lower, "9 of 10"},
                   {"free_p99", "ns", better::lower, "99 of 100"},
                   {"free_p99_9", "ns", better::lower, "999 of 1000"},
                   {"free_max", "ns", better::lower, "all of them"}},
    .subjects = pools::for_one_thread<measure>(),
    .baseline = "malloc@glibc",
    .yardsticks = {"bare_list"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
