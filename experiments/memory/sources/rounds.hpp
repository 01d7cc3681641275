// Rounds of work, as many as a region of the wanted length holds: the subjects differ by a factor
// of thousands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/experiment.hpp"
#include "harness/fill_time.hpp"
#include "harness/rate.hpp"
#include "sources/throughput.hpp"

namespace memory {

/// Times rounds of this many operations; `round` returns the sum of what it read from its blocks,
/// and every round must return `expected`.
template <class Round>
void time_rounds(heapwise::bench::cell& the_cell, std::size_t operations, std::uint64_t expected,
                 Round&& round) {
  std::uint64_t sum = 0;
  const std::size_t rounds = heapwise::bench::count_that_fills(
      the_cell.size("region") * 1'000'000, 1, [&](std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) sum += round();
      });
  the_cell.each_repeat([&](heapwise::bench::sample& the_sample) {
    sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(rounds * operations, [&] {
      for (std::size_t i = 0; i < rounds; ++i) sum += round();
    });
    the_sample.set("throughput",
                   heapwise::bench::millions_per_second(rounds * operations, elapsed_ns));
    the_sample.set_processor_time(rounds * operations);
    the_cell.check("work", sum == rounds * expected,
                   "{} rounds of {} operations read {} from their blocks, expected {}", rounds,
                   operations, sum, rounds * expected);
  });
}

} // namespace memory
