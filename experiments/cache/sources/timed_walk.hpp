// A walk around a ring of lines, timed and proved.
#pragma once

#include "harness/experiment.hpp"
#include "harness/fill_time.hpp"
#include "harness/rate.hpp"
#include "sources/ring_of_lines.hpp"

namespace caches {

/// A function as `walk`.
using walker = const line* (*)(const line*, std::size_t);

/// Steps that take about this long; walks on from `at` until that is known.
inline std::size_t steps_that_take(std::uint64_t wanted_ns, walker goes, const line* at) {
  constexpr std::size_t least = 1024;
  return heapwise::bench::count_that_fills(wanted_ns, least, [&](std::size_t steps) {
    at = goes(at, steps);
    heapwise::bench::keep(at);
  });
}

/// Each repeat walks on from where the one before ended. `set(sample&, elapsed_ns, steps)` sets the
/// quantities; `moves` is false for a walk that stays where it is.
template <class Set>
void time_walks(heapwise::bench::cell& the_cell, const ring_of_lines& ring, walker goes, bool moves,
                std::size_t steps, Set&& set) {
  std::size_t position = 0;
  the_cell.each_repeat([&](heapwise::bench::sample& the_sample) {
    const line* const from = ring.place(position);
    const line* end = nullptr;
    const std::uint64_t elapsed_ns = the_sample.measure(steps, [&] { end = goes(from, steps); });
    set(the_sample, elapsed_ns);
    if (moves) position = (position + steps) % ring.size();
    the_cell.check("work", end == ring.place(position),
                   "{} steps around {} lines end where they must, at step {}", steps, ring.size(),
                   position);
  });
}

} // namespace caches
