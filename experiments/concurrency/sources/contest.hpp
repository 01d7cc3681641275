// Threads that all do the same thing over and over, until the time is up.
#pragma once

#include <atomic>
#include <cstdint>

#include "harness/sample.hpp"
#include "sources/processors.hpp"
#include "sources/quantities.hpp"

namespace concurrency {

/// Calls `step()` until `until_ns`; returns how often. The clock is read seldom enough to be lost
/// in the cheapest step. By value, and a function of its own: what the step refers to stays in
/// registers, and every loop begins as the compiler aligns functions.
template <class Step>
[[gnu::noinline]] std::uint64_t repeat_until(std::uint64_t until_ns, Step step) {
  constexpr std::uint64_t between_looks = 1024;
  std::uint64_t done = 0;
  do {
    for (std::uint64_t i = 0; i < between_looks; ++i) step();
    done += between_looks;
  } while (heapwise::bench::now_ns() < until_ns);
  return done;
}

struct contest_result {
  std::uint64_t elapsed_ns = 0;
  std::uint64_t steps = 0;

  [[nodiscard]] double throughput() const noexcept {
    return millions_per_second(steps, elapsed_ns);
  }
};

/// `prepare(index)` gives each thread its step; both run on that thread, only the step in time.
template <class Prepare>
contest_result run_contest(cell& the_cell, sample& the_sample, const processors& where, int threads,
                           Prepare&& prepare) {
  std::atomic<std::uint64_t> steps{0};
  contest_result result;
  result.elapsed_ns = measure_placed(
      the_cell, the_sample, where, threads, [&steps] { return steps.load(); },
      [&](team_member& member) {
        const auto step = prepare(member.index());
        member.start();
        const std::uint64_t done = repeat_until(member.start_ns() + duration_ns(the_cell), step);
        member.stop();
        steps += done;
      });
  result.steps = steps;
  return result;
}

} // namespace concurrency
