// The same instructions in one chain, or in several that do not wait for each other.
//
// build: aligned_loops
#include <array>
#include <cstddef>
#include <utility>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

namespace {

using namespace heapwise::bench;

/// A linear congruential generator (Knuth, MMIX): a multiplication and an addition, each waiting
/// for the last. Its n-th state has a closed form, so that the chains have a reference.
constexpr std::uint64_t factor = 6364136223846793005U;
constexpr std::uint64_t addend = 1442695040888963407U;

constexpr std::size_t most_chains = 8;
constexpr std::size_t unrolled = 8; // steps in a pass of the loop, the same for all subjects

/// `forget` between the steps: compilers know that two such steps of one chain are one.
[[gnu::always_inline]] inline void step(std::uint64_t& state) noexcept {
  state = state * factor + addend;
  forget(state);
}

template <std::size_t chains, std::size_t... steps>
[[gnu::always_inline]] inline void pass(std::array<std::uint64_t, chains>& states,
                                        std::index_sequence<steps...>) noexcept {
  (step(states[steps % chains]), ...);
}

template <std::size_t chains>
std::uint64_t walk(const mapped_array<std::uint64_t>& seeds, std::uint64_t items) noexcept {
  std::array<std::uint64_t, chains> states;
  for (std::size_t i = 0; i < chains; ++i) states[i] = seeds[i];
  for (std::uint64_t done = 0; done < items; done += unrolled) {
    pass<chains>(states, std::make_index_sequence<unrolled>{});
  }
  std::uint64_t all = 0;
  for (const std::uint64_t state : states) all ^= state;
  return all;
}

/// The state after this many steps, in logarithmic time: the step squared and multiplied.
std::uint64_t jump(std::uint64_t state, std::uint64_t steps) noexcept {
  std::uint64_t times = factor;
  std::uint64_t plus = addend;
  for (; steps != 0; steps /= 2) {
    if (steps % 2 != 0) state = state * times + plus;
    plus = (times + 1) * plus;
    times = times * times;
  }
  return state;
}

template <std::size_t chains>
void measure(cell& the_cell) {
  const std::uint64_t items = the_cell.size("items") / most_chains * most_chains;
  const mapped_array<std::uint64_t> seeds{most_chains};
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < chains; ++i) {
    seeds[i] = the_cell.random().next();
    expected ^= jump(seeds[i], items / chains);
  }
  escape(seeds.data());
  measure_rate(the_cell, items, expected, [&] { return walk<chains>(seeds, items); });
}

/// Counters in memory, which the compiler must read and write for each item: a chain goes through
/// the store and back. The report latency-lab counts so, with one counter and with two.
template <std::size_t counters>
void measure_counters(cell& the_cell) {
  const std::uint64_t items = the_cell.size("items") / 2 * 2;
  measure_rate(the_cell, items, items, [&] {
    static std::array<volatile std::uint64_t, counters> in_memory;
    for (volatile std::uint64_t& each : in_memory) each = 0;
    for (std::uint64_t done = 0; done < items; done += 2) {
      in_memory[0] = in_memory[0] + 1;
      in_memory[counters - 1] = in_memory[counters - 1] + 1;
    }
    std::uint64_t sum = 0;
    for (const volatile std::uint64_t& each : in_memory) sum += each;
    return sum;
  });
}

void measure_loop(cell& the_cell) {
  const std::uint64_t items = the_cell.size("items") / unrolled * unrolled;
  measure_rate(the_cell, items, items, [&] {
    std::uint64_t done = 0;
    for (; done < items; done += unrolled) forget(done);
    return done;
  });
}

const experiment question{
    .id = "cpu/ilp",
    .question = "What does it gain when instructions need not wait for each other's results?",
    .isolates =
        "One instruction stream of multiplications and additions in registers: as many items in "
        "all, dealt to one chain or to several.",
    .not_shown =
        "Memory, branches, vector instructions. The gain ends at what the processor can start in "
        "a cycle: more chains than a multiplication takes cycles bring nothing. Eight steps make "
        "a pass of the loop for every subject; empty_loop is that loop with nothing in it, and "
        "runs beside the chains rather than after them. latency-lab adds 1 to one counter in "
        "memory, or to two: `counter_1` and `counters_2`. Some processors hand a stored value "
        "to the next load without a wait; there one counter is as fast as two.",
    .parameters = {{"items", "steps of all chains together", {20'000'000}, {80'000}, "", 8}},
    .quantities = {{rate_name, "M/s", better::higher,
                    "an item is one multiplication and one addition"},
                   processor_time},
    .subjects = {{"dependent", "one chain", measure<1>},
                 {"independent_2", "two chains", measure<2>},
                 {"independent_4", "four chains", measure<4>},
                 {"independent_8", "eight chains", measure<8>},
                 {"counter_1", "one counter in memory", measure_counters<1>},
                 {"counters_2", "two counters in memory", measure_counters<2>},
                 {"empty_loop", "the loop alone", measure_loop}},
    .baseline = "dependent",
    .repeats = 16,
    .expectations = {{.says = "four independent chains are at least twice as fast as one",
                      .quantity = rate_name,
                      .subject = "independent_4",
                      .over = "dependent",
                      .at_least = 2.0},
                     {.says = "two chains overlap: at least 1.7 times one",
                      .quantity = rate_name,
                      .subject = "independent_2",
                      .over = "dependent",
                      .at_least = 1.7}},
    .answers = {{.quantity = "throughput", .subject = "independent_4", .over = "dependent"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
