// Stores that may, cannot, and do change what is read next.
//
// build: aligned_loops
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <cstddef>

#include "harness/builds.hpp"
#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

namespace {

using namespace heapwise::bench;

using number = std::uint32_t;
constexpr std::size_t figures = 4096; // 16 KiB a side: in the nearest cache together

/// Noinline: a loop that sees how its caller made the arrays would know that they are two.
[[gnu::noinline]] void map_may_alias(number* out, const number* in) noexcept {
  for (std::size_t i = 0; i < figures; ++i) out[i] = 3 * in[i] + 1;
}

[[gnu::noinline]] void map_restrict(number* __restrict__ out,
                                    const number* __restrict__ in) noexcept {
  for (std::size_t i = 0; i < figures; ++i) out[i] = 3 * in[i] + 1;
}

/// What compilers add by themselves when they optimise more: they ask, and then know.
[[gnu::noinline]] void map_checked(number* out, const number* in) noexcept {
  if (out + figures <= in || in + figures <= out) {
    map_restrict(out, in);
  } else {
    map_may_alias(out, in);
  }
}

[[gnu::noinline]] void total_may_alias(number* out, const number* in) noexcept {
  for (std::size_t i = 0; i < figures; ++i) *out += in[i];
}

[[gnu::noinline]] void total_restrict(number* __restrict__ out,
                                      const number* __restrict__ in) noexcept {
  for (std::size_t i = 0; i < figures; ++i) *out += in[i];
}

[[gnu::noinline]] void total_checked(number* out, const number* in) noexcept {
  if (out + 1 <= in || in + figures <= out) {
    total_restrict(out, in);
  } else {
    total_may_alias(out, in);
  }
}

using pass = void (*)(number* out, const number* in) noexcept;

std::uint64_t sum_of(const number* from, std::size_t count) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += from[i];
  return sum;
}

/// `in` and `out` in one piece of memory; `shift` is how far behind `in` the output begins.
struct arrays {
  arrays(cell& the_cell, std::size_t behind) : memory{2 * figures + 1}, shift{behind} {
    for (auto& each : memory) each = static_cast<number>(the_cell.random().next());
    escape(memory.data());
  }
  [[nodiscard]] number* in() const noexcept { return memory.data(); }
  [[nodiscard]] number* out() const noexcept { return memory.data() + shift; }

  mapped_array<number> memory;
  std::size_t shift;
};

/// The sum of the output after `rounds` passes, computed element by element on a copy.
std::uint64_t reference(const arrays& now, bool total, std::uint64_t rounds) {
  const mapped_array<number> copy{now.memory.size()};
  for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = now.memory[i];
  volatile number* const out = copy.data() + now.shift;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < figures; ++i) {
      const number read = *const_cast<volatile number*>(&copy[i]);
      if (total) {
        out[0] = out[0] + read;
      } else {
        out[i] = 3 * read + 1;
      }
    }
  }
  return sum_of(copy.data() + now.shift, total ? 1 : figures);
}

/// `shift` of the output: figures where the two are apart, 1 or 2 where they overlap, 0 in place.
template <pass mapped, pass totalled, std::size_t map_shift, std::size_t total_shift>
void measure(cell& the_cell) {
  const std::uint64_t rounds = std::max(the_cell.size("items") / figures, std::size_t{1});
  const bool total = the_cell.text("work") == "total";
  const arrays both{the_cell, total ? total_shift : map_shift};
  const pass timed = total ? totalled : mapped;
  the_cell.each_repeat([&](sample& the_sample) {
    const bool checks = the_cell.inspects(the_sample);
    const std::uint64_t expected = checks ? reference(both, total, rounds) : 0;
    const std::uint64_t elapsed_ns = the_sample.measure(rounds * figures, [&] {
      for (std::uint64_t round = 0; round < rounds; ++round) timed(both.out(), both.in());
    });
    the_sample.set(rate_name, millions_per_second(rounds * figures, elapsed_ns));
    if (!checks) return;
    const std::uint64_t sum = sum_of(both.out(), total ? 1 : figures);
    the_cell.check("work", sum == expected, "sum of the output {}, expected {}", sum, expected);
  });
}

void measure_loop(cell& the_cell) {
  const std::uint64_t items = the_cell.size("items") / figures * figures;
  measure_rate(the_cell, items, items, [&] {
    std::uint64_t done = 0;
    for (; done < items; ++done) forget(done);
    return done;
  });
}

const experiment question{
    .id = "cpu/aliasing",
    .question = "What does it cost that a store may change what is read next?",
    .isolates =
        "The same loop over arrays in the nearest cache: the compiler must assume an overlap, is "
        "promised that there is none, asks before the loop, or there is one. `map` writes "
        "3 * in[i] + 1 to out[i]; `total` adds every in[i] to one number in memory.",
    .not_shown =
        "Larger arrays, where memory decides. Built with -O2, as its users build: GCC 12 makes "
        "vector instructions only where it needs no question at run time. With -O3 compilers put "
        "the question before the loop themselves, as `checked` does: in build O3_native "
        "`may_alias` is level with `restrict` in `map`, and there the figures of the report "
        "latency-lab stand, which was built so. An overlap makes a step wait for a store of one "
        "before "
        "it, "
        "whatever the compiler does; where that is the last store of all, some processors hand "
        "the number over without its store and load, and `overlap_next` is faster than `overlap`. "
        "in_place writes each element after it was read, so no load waits for a store: that is "
        "the overlap of the report latency-lab. Its author's program gained by it with g++ 12 -O3 "
        "(1.5 to 1.9 times as fast) and lost with clang 16 (1.7 to 2.0 times as slow), because "
        "the two ask different questions before the loop. "
        "Where `total` overlaps, the total is one of the 4096 numbers that are read, so one step "
        "in "
        "4096 reads what was just written, and the rest do what `may_alias` does: this cell says "
        "nothing of overlaps.",
    .parameters = {{"work", "map or total", {"map", "total"}, {"map", "total"}},
                   {"items", "elements in the timed region", {16'384'000}, {40'960}},
                   builds()},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one element read"},
                   processor_time},
    .subjects = {{"may_alias", "the compiler must assume an overlap",
                  measure<map_may_alias, total_may_alias, figures, figures>},
                 {"restrict", "the compiler is promised none",
                  measure<map_restrict, total_restrict, figures, figures>},
                 {"checked", "asked before the loop",
                  measure<map_checked, total_checked, figures, figures>},
                 {"overlap", "the output begins two elements behind the input",
                  measure<map_may_alias, total_may_alias, 2, 2>},
                 {"overlap_next", "the output begins one element behind the input",
                  measure<map_may_alias, total_may_alias, 1, 1>},
                 {"in_place", "the output is the input",
                  measure<map_may_alias, total_may_alias, 0, 0>},
                 {"empty_loop", "a loop of as many steps, nothing in it", measure_loop}},
    .baseline = "may_alias",
    .expectations = {{.says = "an overlap is at most 0.6 times as fast as one that only might be",
                      .quantity = rate_name,
                      .subject = "overlap",
                      .over = "may_alias",
                      .parameters = {{"work", "map"}},
                      .at_most = 0.6},
                     {.says = "a sum that must go through memory is at most half as fast",
                      .quantity = rate_name,
                      .subject = "may_alias",
                      .over = "restrict",
                      .parameters = {{"work", "total"}},
                      .at_most = 0.5}},
    .answers = {{.quantity = "throughput", .subject = "restrict", .over = "may_alias"},
                {.quantity = "throughput",
                 .subject = "overlap",
                 .over = "may_alias",
                 .parameters = {{"work", "map"}}}},
    .work_parameters = {"work"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
