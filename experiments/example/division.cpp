// What an integer division costs beside a multiplication. The experiment to copy.
#include "harness/experiment.hpp"

namespace {

using namespace heapwise::bench;

struct multiply {
  static std::uint64_t step(std::uint64_t state, std::uint64_t by) { return state * by + 1; }
};

struct divide {
  static std::uint64_t step(std::uint64_t state, std::uint64_t by) { return ~state / by; }
};

/// Each step waits for the last, so that the time is the latency of one.
template <class Operation>
std::uint64_t walk(std::uint64_t by, std::size_t steps) {
  std::uint64_t state = ~by;
  for (std::size_t i = 0; i < steps; ++i) state = Operation::step(state, by);
  return state;
}

template <class Operation>
void measure(cell& the_cell) {
  const std::size_t steps = the_cell.size("steps");
  std::uint64_t by = 3 + the_cell.random().below(1000);
  escape(&by); // the compiler must not know what it divides by
  const std::uint64_t expected = walk<Operation>(by, steps);
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t result = 0;
    the_sample.time("latency", steps, [&] { keep(result = walk<Operation>(by, steps)); });
    the_cell.check("work", result == expected, "{} steps end at {}", steps, result);
  });
}

const experiment question{
    .id = HEAPWISE_EXPERIMENT_ID, // family/name, as the file
    .question = "What does an integer division cost beside a multiplication?",
    .isolates = "The latency of one instruction on 64-bit numbers in registers.",
    .not_shown = "Divisors that the compiler knows, divisions that overlap, other widths.",
    .parameters = {{"steps", "of the chain", {2'000'000}, {20'000}}},
    .quantities = {{"latency", "ns/op", better::lower, "of one step"}},
    .subjects = {{"multiplication", "state * by + 1", measure<multiply>},
                 {"division", "~state / by", measure<divide>}},
    .baseline = "multiplication",
    .answers = {{.quantity = "latency", .subject = "division", .over = "multiplication"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
