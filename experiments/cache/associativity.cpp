// The same few lines, placed so that they share the cache evenly, or all fall into one set of it.
#include "harness/experiment.hpp"
#include "harness/memory/paged_memory.hpp"
#include "harness/rate.hpp"
#include "sources/reported_caches.hpp"
#include "sources/timed_walk.hpp"

namespace {

using namespace heapwise::bench;

/// Of a cache of 32 KiB and 8 ways, and of most others: a set comes again after a page.
constexpr std::size_t usual_way_bytes = 4096;

std::size_t way_bytes(int level) {
  const std::size_t reported = caches::reported_data_cache(level).way_bytes();
  return reported == 0 && level == 1 ? usual_way_bytes : reported;
}

enum class placement { friendly, spread, conflict, conflict_far };

/// Bytes from one line to the next.
std::size_t step_of(const cell& the_cell, placement chosen) {
  switch (chosen) {
    case placement::friendly:
      return caches::line_bytes;
    case placement::spread:
      return way_bytes(1) + caches::line_bytes;
    case placement::conflict:
      return way_bytes(1);
    case placement::conflict_far:
      if (way_bytes(2) <= way_bytes(1)) the_cell.refuse("cache", "no second level is reported");
      return way_bytes(2);
  }
  return 0;
}

template <placement chosen, caches::walker goes = caches::walk>
void measure(cell& the_cell) {
  const std::size_t lines = the_cell.size("lines");
  const std::size_t loads = the_cell.size("loads");
  const std::size_t step = step_of(the_cell, chosen);
  // The second level is indexed by physical addresses: only within huge pages are they known.
  constexpr page_kind pages =
      chosen == placement::conflict_far ? page_kind::huge : page_kind::small;
  const paged_memory memory{lines * step, pages};
  const mapped_array<std::uint64_t> offsets{lines};
  for (std::size_t i = 0; i < lines; ++i) offsets[i] = i * step;
  the_cell.random().shuffle(offsets.span());
  const caches::ring_of_lines ring{memory.data(), offsets.span()};
  constexpr bool moves = goes == caches::walk;
  caches::time_walks(the_cell, ring, goes, moves, loads,
                     [&](sample& the_sample, std::uint64_t elapsed_ns) {
                       the_sample.set("loads", millions_per_second(loads, elapsed_ns));
                     });
}

const experiment question{
    .id = "cache/associativity",
    .question = "How fast are a few cache lines read over and over when all fall into one set?",
    .isolates =
        "The number of ways: a ring of 4 to 64 lines, 4 KiB at most, which any cache could hold. "
        "friendly: side by side. spread: each on a page of its own, and in a set of its own. "
        "conflict: each on a page of its own, all in one set of the first level, as the reported "
        "size and ways say. conflict_far: all in one set of the second level, too. conflict "
        "against spread is what the set costs, spread against friendly what the pages cost.",
    .not_shown =
        "Loads that do not wait for each other, and stores. Where a cache scrambles addresses, or "
        "reports a geometry that it does not have, there is no conflict to see; the last level "
        "does scramble as a rule, and is left out. With more lines than ways a set that throws "
        "out the least recently used line misses on each load of a ring; others keep some. A "
        "second level in which conflict_far is as fast as conflict does scramble.",
    .parameters = {{"lines", "in the ring", {4, 8, 16, 32, 64}, {4, 64}},
                   {"loads", "in the timed region", {1'500'000}, {200'000}}},
    .quantities = {{"loads", "M/s", better::higher, "millions of loads in a second"},
                   processor_time},
    .subjects = {{"friendly", "lines side by side", measure<placement::friendly>},
                 {"spread", "pages apart, different sets", measure<placement::spread>},
                 {"conflict", "pages apart, one set of the first level",
                  measure<placement::conflict>},
                 {"conflict_far", "one set of the first level and of the second",
                  measure<placement::conflict_far>},
                 {"empty_loop", "the same loop without its load",
                  measure<placement::friendly, caches::walk_nowhere>}},
    .baseline = "friendly",
    .repeats = 9,
    .expectations = {{.says = "four lines in one set do not disturb each other",
                      .quantity = "loads",
                      .subject = "conflict",
                      .over = "spread",
                      .parameters = {{"lines", 4}},
                      .at_least = 0.9},
                     {.says = "64 lines in one set cost at least a third of the speed",
                      .quantity = "loads",
                      .subject = "conflict",
                      .over = "spread",
                      .parameters = {{"lines", 64}},
                      .at_most = 0.67}},
    .answers = {{.quantity = "loads",
                 .subject = "conflict",
                 .over = "friendly",
                 .parameters = {{"lines", 16}}},
                {.quantity = "loads",
                 .subject = "conflict",
                 .over = "friendly",
                 .parameters = {{"lines", 64}}},
                {.quantity = "loads",
                 .subject = "conflict_far",
                 .over = "friendly",
                 .parameters = {{"lines", 64}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
