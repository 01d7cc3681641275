// Rounds of work, as many as a region of the wanted length holds: the subjects differ by a factor
// of thousands.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "harness/experiment.hpp"
#include "kernel/clock.hpp"
#include "sources/seed.hpp"

namespace memory {

/// Runs `round` outside the clock until it is known how many make up so many nanoseconds.
template <class Round>
std::size_t rounds_that_take(std::uint64_t wanted_ns, Round&& round) {
  for (std::size_t rounds = 1;; rounds *= 2) {
    const std::uint64_t start_ns = heapwise::bench::now_ns();
    for (std::size_t i = 0; i < rounds; ++i) round();
    const std::uint64_t took_ns = heapwise::bench::now_ns() - start_ns;
    if (took_ns * 4 < wanted_ns) continue;
    const double fit =
        static_cast<double>(rounds) * static_cast<double>(wanted_ns) / static_cast<double>(took_ns);
    return std::max<std::size_t>(1, static_cast<std::size_t>(fit));
  }
}

/// Times rounds of so many operations; `round` returns the sum of what it read from its blocks, and
/// every round must return `expected`.
template <class Round>
void time_rounds(heapwise::bench::cell& given, std::size_t operations, std::uint64_t expected,
                 Round&& round) {
  std::uint64_t sum = 0;
  const std::size_t rounds =
      rounds_that_take(given.size("region") * 1'000'000, [&] { sum += round(); });
  given.each_repeat([&](heapwise::bench::sample& yields) {
    sum = 0;
    const std::uint64_t elapsed_ns = yields.measure(rounds * operations, [&] {
      for (std::size_t i = 0; i < rounds; ++i) sum += round();
    });
    yields.set("throughput", millions(rounds * operations, elapsed_ns));
    given.check("work", sum == rounds * expected,
                "%zu rounds of %zu operations read %llu from their blocks, expected %llu", rounds,
                operations, static_cast<unsigned long long>(sum),
                static_cast<unsigned long long>(rounds * expected));
  });
}

} // namespace memory
