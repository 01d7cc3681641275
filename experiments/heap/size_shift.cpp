// Sizes that change while the program runs: survivors of the old sizes stand in the way of the new.
#include <algorithm>

#include "sources/population.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

constexpr std::uint64_t mib = 1 << 20;
constexpr unsigned phases = 6; // sizes double from one to the next: 16 to 96, ... 512 to 3072 bytes
constexpr unsigned passes = 2;

heaps::byte_range sizes_of(unsigned phase) { return {16U << phase, 96U << phase}; }

struct outcome {
  double worst = 0;
  double sum = 0;
  std::uint64_t elapsed_ns = 0;
  std::uint64_t operations = 0;
  std::uint64_t allocations = 0;
};

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    // The blocks of the first phase, 56 bytes on average, are the most that are ever live.
    heaps::population blocks{the_cell.size("full_mib") * mib / 48};
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      Source source;
      meter.restart_peak();
      outcome seen;
      for (unsigned phase = 0; phase < passes * phases; ++phase) {
        one_phase(the_cell, the_sample, source, blocks, meter, phase % phases, seen);
      }
      const std::size_t live = blocks.live();
      const std::size_t whole = blocks.whole();
      blocks.plan_loss(0, the_cell.random());
      blocks.shrink(source);
      the_sample.set("resident_over_live", seen.worst);
      the_sample.set("mean_resident_over_live", seen.sum / (passes * phases));
      the_sample.set("throughput", heaps::mops(seen.operations, seen.elapsed_ns));
      the_sample.set_processor_time(seen.operations);
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", whole == live && live != 0, "{} whole blocks of the last {}", whole,
                     live);
      the_cell.expect_calls(seen.allocations);
    });
  }

  static void one_phase(cell& the_cell, sample& the_sample, Source& source,
                        heaps::population& blocks, resident_meter& meter, unsigned phase,
                        outcome& seen) {
    blocks.plan_growth(the_cell.size("full_mib") * mib, sizes_of(phase), the_cell.random());
    const std::size_t growth = blocks.growth();
    seen.elapsed_ns += the_sample.measure(growth, [&] { blocks.grow(source); });
    const double now = heaps::ratio(meter.now(), blocks.live_bytes());
    seen.worst = std::max(seen.worst, now);
    seen.sum += now;
    blocks.plan_loss(the_cell.size("kept_mib") * mib, the_cell.random());
    const std::size_t loss = blocks.loss();
    seen.elapsed_ns += the_sample.measure(loss, [&] { blocks.shrink(source); });
    seen.operations += growth + loss;
    seen.allocations += growth;
  }
};

const experiment question{
    .id = "heap/size_shift",
    .question = "How much memory does a program hold whose blocks change their sizes over time?",
    .isolates =
        "Survivors: blocks of one range of sizes are allocated until 256 MiB are live, then "
        "random ones freed until 64 MiB are, then the next range, twice as large, takes their "
        "place; six ranges from 16 to 3072 bytes, gone through twice.",
    .not_shown =
        "What one phase holds depends on all before it: the worst peak is usually late. Pages "
        "that the kernel may take back, but has not yet, count as resident. The throughput has "
        "random frees of blocks that left the caches long ago, and page faults; both ends of each "
        "block are written to.",
    .parameters =
        {{"full_mib", "requested bytes live at the peak of each phase", {256}, {8}, "MiB"},
         {"kept_mib", "of them kept when the phase ends", {64}, {2}, "MiB"}},
    .quantities = {{"resident_over_live", "x", better::lower,
                    "resident memory over requested bytes live, at the worst of the twelve peaks"},
                   {"mean_resident_over_live", "x", better::lower, "the mean of the twelve peaks"},
                   {"throughput", "Mops/s", better::higher,
                    "allocations and frees, each counted as one, in a microsecond"},
                   processor_time,
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 1,
    .dropped_repeats = 0,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
