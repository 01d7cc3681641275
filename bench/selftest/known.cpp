// heapwise-known: an experiment with known answers. `heapwise selftest` plants its faults.
#include "harness/escape.hpp"
#include "harness/experiment.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace heapwise::bench;

/// One operation: a chain of dependent steps. `percent` 103: 3 % more of them.
void work(cell& the_cell, std::int64_t percent) {
  const std::size_t count = the_cell.size("iterations");
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t value = 1;
    const std::size_t steps = count / 100 * static_cast<std::size_t>(percent);
    the_sample.time("operation", count, [&] {
      for (std::size_t i = 0; i < steps; ++i) {
        value = value * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(value));
      }
    });
    escape(&value);
  });
}

/// A pair of malloc and free is expected for each iteration, and `made` percent of them are made.
void pairs(cell& the_cell) {
  const std::size_t count = the_cell.size("iterations");
  const std::size_t calls = count / 100 * the_cell.size("made");
  the_cell.each_repeat([&](sample& the_sample) {
    the_sample.time("operation", count, [&] {
      for (std::size_t i = 0; i < calls; ++i) {
        void* block = std::malloc(64);
        escape(block);
        std::free(block);
      }
    });
    the_cell.expect_calls(count);
  });
}

const experiment question{
    .id = "selftest/known",
    .question = "Are effects found that are known beforehand?",
    .isolates = "The laboratory itself.",
    .not_shown = "Anything about a program or an allocator.",
    .parameters = {{"iterations", "operations in the timed region", {2'000'000}, {2'000}, "", 100},
                   {"made", "percent of the expected calls that are made", {100}, {100}, "%"}},
    .quantities = {{"operation", "ns/op", better::lower,
                    "one op is one dependent step, or a pair"}},
    .subjects = {{"same", "the work", [](cell& the_cell) { work(the_cell, 100); }},
                 {"slower-1", "1 % more work", [](cell& the_cell) { work(the_cell, 101); }},
                 {"slower-3", "3 % more work", [](cell& the_cell) { work(the_cell, 103); }},
                 {"slower-10", "10 % more work", [](cell& the_cell) { work(the_cell, 110); }},
                 {.name = "malloc", .title = "pairs", .run = pairs, .kind = subject_kind::malloc}},
    .baseline = "same",
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
