// Every element of a large array once, each time with a longer step.
//
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <span>

#include "harness/builds.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/memory/paged_memory.hpp"
#include "harness/rate.hpp"

namespace {

using namespace heapwise::bench;

using element = std::uint32_t;
constexpr std::size_t line_elements = 16; // of 4 bytes in a line of 64

/// Where the passes begin: 0 to stride - 1, each once, lines first. Passes that follow each other
/// read different lines as long as there are any, so that a long step does not mean a small array.
void write_starts(std::span<std::uint32_t> starts) {
  const std::size_t stride = starts.size();
  const std::size_t lines = stride > line_elements ? stride / line_elements : 1;
  const std::size_t inside = stride / lines;
  for (std::size_t i = 0; i < stride; ++i) {
    starts[i] = static_cast<std::uint32_t>(i % lines * inside + i / lines);
  }
}

/// Not inlined, so that the compiler cannot make a loop of its own for each step.
[[gnu::noinline]] std::uint64_t add_up(const element* first, const element* last,
                                       std::size_t stride) {
  std::uint64_t sum = 0;
  for (; first < last; first += stride) sum += *first;
  return sum;
}

/// The loop of add_up without its load.
[[gnu::noinline]] std::uint64_t add_up_nothing(const element* first, const element* last,
                                               std::size_t stride) {
  std::uint64_t sum = 0;
  std::uint64_t loaded = 1;
  for (; first < last; first += stride) {
    asm volatile("" : "+r"(loaded));
    sum += loaded;
  }
  return sum;
}

template <auto add>
void measure(cell& the_cell) {
  const std::size_t count = the_cell.size("elements") / 64 * 64;
  const std::size_t stride = the_cell.size("stride");
  const paged_memory memory{count * sizeof(element), page_kind::small};
  auto* const elements = reinterpret_cast<element*>(memory.data());
  std::uint64_t expected = 0;
  for (std::size_t i = 0; i < count; ++i) {
    elements[i] = add == add_up ? static_cast<element>(the_cell.random().next()) : 1;
    expected += elements[i];
  }
  const mapped_array<std::uint32_t> starts{stride};
  write_starts(starts.span());
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t sum = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(count, [&] {
      for (const std::uint32_t start : starts) {
        sum += add(elements + start, elements + count, stride);
      }
    });
    the_sample.set("loads", millions_per_second(count, elapsed_ns));
    the_cell.check("work", sum == expected, "{} elements add up to {}, expected {}", count, sum,
                   expected);
  });
}

expectation drop(std::string_view says, int stride, double at_most) {
  return {says, "loads", "load", "load", {{"stride", stride}}, {{"stride", 1}}, 0.0, at_most};
}

const experiment question{
    .id = "cache/stride_access",
    .question = "How many elements of an array can be read in a second, by the length of the step?",
    .isolates =
        "How much of each fetched cache line is used, and how far the prefetchers follow: every "
        "step reads the same elements of the same array (4 bytes each, 64 MiB in all), each "
        "exactly once, with the same instructions; only the order differs.",
    .not_shown =
        "Random order (cache/pointer_chasing) and vector instructions, which would make step 1 "
        "faster still: one load and one addition is all that an element costs here, so step 1 is "
        "held back by the loop (empty_loop) and not by memory. Pages are of 4 KiB, by request: a "
        "step of 64 elements crosses one every 16 loads. With a last-level cache "
        "as large as the array the long steps look better than memory is.",
    .parameters = {{"stride", "elements from one load to the next", {1, 4, 16, 64}, {1, 16}},
                   {"elements", "of 4 bytes, in the array", {16 << 20}, {1 << 18}, "", 64},
                   builds()},
    .quantities = {{"loads", "M/s", better::higher, "millions of elements read in a second"},
                   processor_time},
    .subjects = {{"load", "the array", measure<add_up>},
                 {"empty_loop", "the same loop without its load", measure<add_up_nothing>}},
    .baseline = "load",
    .repeats = 9,
    .expectations = {drop("a new line for each load costs at least a third of the speed", 16, 0.67),
                     drop("steps beyond the line cost at least half of the speed", 64, 0.5)},
    .answers = {{.quantity = "loads",
                 .subject = "load",
                 .parameters = {{"stride", 4}},
                 .over_parameters = {{"stride", 1}}},
                {.quantity = "loads",
                 .subject = "load",
                 .parameters = {{"stride", 16}},
                 .over_parameters = {{"stride", 1}}},
                {.quantity = "loads",
                 .subject = "load",
                 .parameters = {{"stride", 64}},
                 .over_parameters = {{"stride", 1}}}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
