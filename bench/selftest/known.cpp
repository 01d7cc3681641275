// heapwise-known: an experiment with known answers. `heapwise selftest` plants its faults.
#include "harness/escape.hpp"
#include "harness/experiment.hpp"

#include <cstdint>
#include <cstdlib>

namespace {

using namespace heapwise::bench;

/// One operation: a chain of dependent steps. `percent` 103: 3 % more of them.
void work(cell& given, std::int64_t percent) {
  const std::size_t count = given.size("iterations");
  given.each_repeat([&](sample& yields) {
    std::uint64_t value = 1;
    const std::size_t steps = count / 100 * static_cast<std::size_t>(percent);
    yields.time("operation", count, [&] {
      for (std::size_t i = 0; i < steps; ++i) {
        value = value * 6364136223846793005U + 1442695040888963407U;
        asm volatile("" : "+r"(value));
      }
    });
    escape(&value);
  });
}

/// A pair of malloc and free is expected for each iteration, and `made` percent of them are made.
void pairs(cell& given) {
  const std::size_t count = given.size("iterations");
  const std::size_t made = count / 100 * given.size("made");
  given.each_repeat([&](sample& yields) {
    yields.time("operation", count, [&] {
      for (std::size_t i = 0; i < made; ++i) {
        void* block = std::malloc(64);
        escape(block);
        std::free(block);
      }
    });
    given.expect_calls(count);
  });
}

const experiment question{
    .id = "selftest/known",
    .question = "Are effects found that are known beforehand?",
    .isolates = "The laboratory itself.",
    .not_shown = "Anything about a program or an allocator.",
    .parameters = {{"iterations", "operations in the timed region", {2'000'000}, {2'000}, "", 100},
                   {"made", "percent of the expected calls that are made", {100}, {100}, "%"}},
    .quantities = {{"operation", "ns/op", better::lower, "one op is one dependent step, or a pair"}},
    .subjects =
        {{"same", "the work", [](cell& given) { work(given, 100); }},
         {"slower-1", "1 % more work", [](cell& given) { work(given, 101); }},
         {"slower-3", "3 % more work", [](cell& given) { work(given, 103); }},
         {"slower-10", "10 % more work", [](cell& given) { work(given, 110); }},
         {.name = "malloc", .title = "pairs", .run = pairs, .kind = subject_kind::malloc}},
    .baseline = "same",
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
