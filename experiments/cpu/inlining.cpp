// A small function inlined, called, and called through a pointer, in three shapes of work.
//
// build: aligned_loops
#include <cstddef>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

// The bodies; and the same behind calls. Weak: the compiler must assume that another definition may
// take its place, so that it neither inlines nor lets what it knows of one side leak to the other.
namespace bodies {

/// A step of xorshift* (Vigna 2016): about nine cycles that the next step must wait for.
[[gnu::always_inline]] inline std::uint64_t step(std::uint64_t state) noexcept {
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 2685821657736338717U;
}

[[gnu::always_inline]] inline std::uint64_t scale(std::uint64_t figure) noexcept {
  return 3 * figure + 1;
}

[[gnu::always_inline]] inline std::uint64_t share(std::uint64_t figure,
                                                  std::uint64_t parts) noexcept {
  return figure / parts;
}

} // namespace bodies

namespace called {

[[gnu::noinline, gnu::weak]] std::uint64_t step(std::uint64_t state) noexcept {
  return bodies::step(state);
}

[[gnu::noinline, gnu::weak]] std::uint64_t scale(std::uint64_t figure) noexcept {
  return bodies::scale(figure);
}

[[gnu::noinline, gnu::weak]] std::uint64_t share(std::uint64_t figure,
                                                 std::uint64_t parts) noexcept {
  return bodies::share(figure, parts);
}

} // namespace called

namespace {

using namespace heapwise::bench;

constexpr std::size_t figures = 4096;
constexpr std::uint64_t parts = 10;

struct inlined {
  static std::uint64_t step(std::uint64_t state) noexcept { return bodies::step(state); }
  static std::uint64_t scale(std::uint64_t figure) noexcept { return bodies::scale(figure); }
  static std::uint64_t share(std::uint64_t figure) noexcept { return bodies::share(figure, parts); }
};

struct noinline {
  static std::uint64_t step(std::uint64_t state) noexcept { return called::step(state); }
  static std::uint64_t scale(std::uint64_t figure) noexcept { return called::scale(figure); }
  static std::uint64_t share(std::uint64_t figure) noexcept { return called::share(figure, parts); }
};

/// The pointers stay what the compiler knows nothing of.
struct through_pointer {
  through_pointer() noexcept {
    forget(step);
    forget(scale);
    forget(share_of);
  }
  [[nodiscard]] std::uint64_t share(std::uint64_t figure) const noexcept {
    return share_of(figure, parts);
  }

  std::uint64_t (*step)(std::uint64_t) noexcept = called::step;
  std::uint64_t (*scale)(std::uint64_t) noexcept = called::scale;
  std::uint64_t (*share_of)(std::uint64_t, std::uint64_t) noexcept = called::share;
};

struct no_call {
  static std::uint64_t step(std::uint64_t state) noexcept { return state; }
  static std::uint64_t scale(std::uint64_t figure) noexcept { return figure; }
  static std::uint64_t share(std::uint64_t figure) noexcept { return figure; }
};

using inputs = mapped_array<std::uint64_t>;

template <class Call>
[[gnu::noinline]] std::uint64_t chain(const inputs& from, std::uint64_t rounds) noexcept {
  const Call call{};
  std::uint64_t state = from[0];
  for (std::uint64_t i = 0; i < rounds * figures; ++i) {
    state = call.step(state);
    forget(state);
  }
  return state;
}

template <class Call>
[[gnu::noinline]] std::uint64_t sums(const inputs& from, std::uint64_t rounds) noexcept {
  const Call call{};
  std::uint64_t sum = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < figures; ++i) sum += call.scale(from[i]);
    clobber();
  }
  return sum;
}

template <class Call>
[[gnu::noinline]] std::uint64_t shares(const inputs& from, std::uint64_t rounds) noexcept {
  const Call call{};
  std::uint64_t sum = 0;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::size_t i = 0; i < figures; ++i) {
      sum += call.share(from[i]);
      forget(sum);
    }
    clobber();
  }
  return sum;
}

using loop = std::uint64_t (*)(const inputs&, std::uint64_t) noexcept;

template <class Call>
loop loop_of(std::string_view shape) {
  if (shape == "chain") return chain<Call>;
  return shape == "independent" ? sums<Call> : shares<Call>;
}

/// Computed with none of the bodies above, one item at a time.
std::uint64_t reference(const inputs& from, std::uint64_t rounds, std::string_view shape) {
  std::uint64_t state = from[0];
  std::uint64_t sum = 0;
  if (shape == "chain") {
    for (std::uint64_t i = 0; i < rounds * figures; ++i) {
      const std::uint64_t once = state ^ (state / 4096);
      const std::uint64_t twice = once ^ (once * 33'554'432);
      state = (twice ^ (twice / 134'217'728)) * 2685821657736338717U;
    }
    return state;
  }
  for (const std::uint64_t each : from) {
    sum += shape == "independent" ? each + each + each + 1 : (each - each % parts) / parts;
  }
  return sum * rounds;
}

template <class Call>
void measure(cell& the_cell) {
  const std::uint64_t rounds = std::max(the_cell.size("items") / figures, std::size_t{1});
  const std::string_view shape = the_cell.text("shape");
  const inputs from{figures};
  std::uint64_t plain_sum = 0;
  for (auto& each : from) plain_sum += (each = the_cell.random().next());
  escape(from.data());
  const std::uint64_t of_loop = shape == "chain" ? from[0] : plain_sum * rounds;
  const std::uint64_t expected =
      std::is_same_v<Call, no_call> ? of_loop : reference(from, rounds, shape);
  measure_rate(the_cell, rounds * figures, expected,
               [&, timed = loop_of<Call>(shape)] { return timed(from, rounds); });
}

expectation at_least(const char* says, const char* shape, double bound) {
  return {.says = says,
          .quantity = rate_name,
          .subject = "inlined",
          .over = "noinline",
          .parameters = {{"shape", shape}},
          .at_least = bound};
}

const experiment question{
    .id = "cpu/inlining",
    .question = "What does it gain when a small function is inlined?",
    .isolates =
        "The same body inlined, called, and called through a pointer that the compiler knows "
        "nothing of. Three shapes: `chain`, where each call needs the last one's result; "
        "`independent`, sums over an array in the nearest cache; `constant`, a division by an "
        "argument that is the same number in every call.",
    .not_shown =
        "What inlining costs: larger code, more misses of the instruction cache. The report "
        "latency-lab saw no "
        "difference since its shape was a chain of arithmetic: a call and its return are "
        "predicted, and done while everything waits for the multiplication. `chain` shows that. "
        "What inlining gains is what the compiler learns: in `constant` the division becomes a "
        "multiplication, in `independent` several items are done at once, where otherwise "
        "nothing is faster than a call and a return.",
    .parameters = {{"shape",
                    "of the work: chain, independent, constant",
                    {"chain", "independent", "constant"},
                    {"chain", "independent", "constant"}},
                   {"items", "calls in the timed region", {4'000'000}, {40'000}}},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one use of the function"},
                   processor_time},
    .subjects = {{"inlined", "inlined", measure<inlined>},
                 {"noinline", "called", measure<noinline>},
                 {"function_pointer", "called through a pointer", measure<through_pointer>},
                 {"empty_loop", "the loop without the function", measure<no_call>}},
    .baseline = "inlined",
    .expectations = {at_least("a constant that reaches the division makes it at least 1.5 times "
                              "as fast",
                              "constant", 1.5),
                     at_least("independent work gains at least 1.5 times", "independent", 1.5)},
    .answers = {{.quantity = "throughput", .subject = "inlined", .over = "noinline"}},
    .work_parameters = {"shape"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
