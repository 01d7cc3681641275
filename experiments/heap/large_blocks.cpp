// Blocks of many pages: what the allocator keeps, and what it asks the system for each time.
#include <array>
#include <cmath>

#include "sources/marks.hpp"
#include "sources/quantities.hpp"
#include "sources/sources.hpp"
#include "sources/thread_tapes.hpp"

namespace {

using namespace heapwise::bench;

/// 64 KiB to 4 MiB, each octave as often, few of them whole numbers of pages.
std::array<weighted_size, 64> large_sizes() {
  constexpr double octaves = 6;
  std::array<weighted_size, 64> sizes{};
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const double exponent = 16 + octaves * static_cast<double>(i) / (sizes.size() - 1);
    sizes[i] = {static_cast<std::uint32_t>(std::exp2(exponent)), 1.0 / sizes.size()};
  }
  return sizes;
}

/// Plays the tape; every block's pages are touched. Returns how many blocks were whole at their
/// end.
template <class Source>
std::uint64_t replay_pages(Source& source, const tape& plays, void** slots) {
  std::uint64_t whole = 0;
  for (const operation each : plays.operations) {
    void*& slot = slots[each.slot()];
    const unsigned char its_mark = heaps::mark_of(each.slot());
    if (each.frees()) {
      whole += heaps::is_marked(slot, each.bytes(), its_mark) ? 1 : 0;
      source.deallocate(slot, each.bytes());
    } else {
      slot = source.allocate(each.bytes());
      heaps::touch_pages(slot, each.bytes());
      heaps::mark(slot, each.bytes(), its_mark);
    }
  }
  return whole;
}

template <class Source>
struct measure {
  static void run(cell& the_cell) {
    const std::array sizes = large_sizes();
    const auto live = static_cast<std::uint32_t>(the_cell.integer("live"));
    const size_mix mix{"large", sizes, .6, live, 0};
    const heaps::thread_tapes tapes{mix, 1, the_cell.size("operations") / 2 * 2, the_cell.random()};
    const tape& plays = tapes.of(0);
    resident_meter meter;
    the_cell.each_repeat([&](sample& the_sample) {
      Source source;
      std::uint64_t whole = 0;
      meter.restart_peak();
      the_sample.time("block", plays.allocations,
                      [&] { whole = replay_pages(source, plays, tapes.slots(0)); });
      the_sample.set_processor_time(plays.allocations);
      the_sample.set("resident_over_live", heaps::ratio(meter.peak(), plays.peak_live_bytes));
      heaps::set_peak(the_sample, meter);
      the_cell.check("work", whole == plays.allocations, "{} whole blocks of {}", whole,
                     plays.allocations);
      the_cell.expect_calls(plays.allocations);
    });
  }
};

const experiment question{
    .id = "heap/large_blocks",
    .question = "What do blocks of 64 KiB to 4 MiB cost, used and freed in quick succession?",
    .isolates =
        "Large blocks on one thread, a byte written in each page: whether pages are kept for the "
        "next block or fetched from the system again, with a page fault for each.",
    .not_shown =
        "Blocks that are filled whole, where the filling hides the rest. Memory that is kept costs "
        "other programs: resident_over_live and heap/idle_purge show that side.",
    .parameters = {{"operations", "allocations and frees", {10'000}, {200}, "", 2},
                   {"live", "blocks at once, at most", {32}, {32}}},
    .quantities = {{"block", "ns/op", better::lower,
                    "one block taken, touched in each page, and freed"},
                   processor_time,
                   {"resident_over_live", "x", better::lower,
                    "the peak of resident memory over the peak of what was asked for"},
                   heaps::peak_resident},
    .subjects = heaps::subjects<measure>(),
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
