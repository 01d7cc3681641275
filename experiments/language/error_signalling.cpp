// A function that may fail says so by a code, by its result, or by an exception.
//
// build: aligned_loops
// build again: O3_native = -O3 -march=native
// build again: clang_O3_native = clang -O3 -march=native
#include <algorithm>
#include <cstddef>
#include <optional>

#include "harness/builds.hpp"
#include "sources/numbers.hpp"

// Weak: neither inlined nor seen through, as if from another library.
namespace called {

inline constexpr std::uint64_t fails = std::uint64_t{1} << 63;

struct failure {
  int code;
};

/// A value or an error, in two registers: what std::expected of C++23 is for such types.
struct expected {
  std::uint64_t value;
  int error;
};

[[gnu::noinline, gnu::weak]] int by_code(std::uint64_t figure, std::uint64_t& result) noexcept {
  if ((figure & fails) != 0) [[unlikely]] {
    return 1;
  }
  result = languages::work_of(figure);
  return 0;
}

[[gnu::noinline, gnu::weak]] expected by_value(std::uint64_t figure) noexcept {
  if ((figure & fails) != 0) [[unlikely]] {
    return {0, 1};
  }
  return {languages::work_of(figure), 0};
}

[[gnu::noinline, gnu::weak]] std::uint64_t certainly(std::uint64_t figure) noexcept {
  return languages::work_of(figure);
}

[[gnu::noinline, gnu::weak]] std::uint64_t by_exception(std::uint64_t figure) {
  if ((figure & fails) != 0) [[unlikely]] {
    throw failure{1};
  }
  return languages::work_of(figure);
}

} // namespace called

namespace {

using namespace languages;

struct code {
  static void add(std::uint64_t figure, std::uint64_t& sum, std::uint64_t& failures) {
    std::uint64_t result = 0;
    if (called::by_code(figure, result) != 0) {
      ++failures;
    } else {
      sum += result;
    }
  }
};

struct expected_like {
  static void add(std::uint64_t figure, std::uint64_t& sum, std::uint64_t& failures) {
    const called::expected got = called::by_value(figure);
    if (got.error != 0) {
      ++failures;
    } else {
      sum += got.value;
    }
  }
};

struct exception {
  static void add(std::uint64_t figure, std::uint64_t& sum, std::uint64_t& failures) {
    try {
      sum += called::by_exception(figure);
    } catch (const called::failure& failed) {
      failures += static_cast<std::uint64_t>(failed.code);
    }
  }
};

/// A call that cannot fail: what all of them would cost if nothing had to be said.
struct cannot_fail {
  static void add(std::uint64_t figure, std::uint64_t& sum, std::uint64_t&) {
    sum += called::certainly(figure);
  }
};

/// In sight of the caller, which may inline them and join calls.
std::optional<std::uint64_t> by_optional_in_sight(std::uint64_t figure) noexcept {
  if ((figure & called::fails) != 0) return std::nullopt;
  return work_of(figure);
}

std::uint64_t by_exception_in_sight(std::uint64_t figure) {
  if ((figure & called::fails) != 0) throw called::failure{1};
  return work_of(figure);
}

struct optional_in_sight {
  static void add(std::uint64_t figure, std::uint64_t& sum, std::uint64_t& failures) {
    const auto got = by_optional_in_sight(figure);
    if (got.has_value()) {
      sum += *got;
    } else {
      ++failures;
    }
  }
};

struct exception_in_sight {
  static void add(std::uint64_t figure, std::uint64_t& sum, std::uint64_t& failures) {
    try {
      sum += by_exception_in_sight(figure);
    } catch (const called::failure& failed) {
      failures += static_cast<std::uint64_t>(failed.code);
    }
  }
};

template <class Way>
constexpr bool is_in_sight =
    std::is_same_v<Way, optional_in_sight> || std::is_same_v<Way, exception_in_sight>;

using inputs = mapped_array<std::uint64_t>;

/// Numbers of which one in `period` fails, at places that the seed decides; 0: none.
void fill(cell& the_cell, const inputs& from, std::size_t period) {
  const std::size_t failing = period == 0 ? 0 : from.size() / period;
  for (std::size_t i = 0; i < from.size(); ++i) {
    from[i] = (the_cell.random().next() & ~called::fails) | (i < failing ? called::fails : 0);
  }
  the_cell.random().shuffle(from.span());
}

struct outcome {
  std::uint64_t sum = 0;
  std::uint64_t failures = 0;
};

template <class Way>
outcome ask(const inputs& from, std::uint64_t rounds) {
  outcome all;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (const std::uint64_t figure : from) {
      Way::add(figure, all.sum, all.failures);
      if constexpr (!is_in_sight<Way>) forget(all.sum);
    }
  }
  return all;
}

outcome reference(const inputs& from, std::uint64_t rounds, bool can_fail) {
  outcome all;
  for (const std::uint64_t figure : from) {
    const bool failed = figure >> 63 != 0;
    if (failed && can_fail) {
      ++all.failures;
    } else {
      all.sum += figure + figure + figure + 1;
    }
  }
  return {all.sum * rounds, all.failures * rounds};
}

constexpr std::size_t rarely = 4096;
/// 8 MiB: as many numbers as the report latency-lab has.
constexpr std::size_t many_figures = 1 << 20;

template <class Way>
void measure(cell& the_cell) {
  const std::size_t count = is_in_sight<Way> ? many_figures : figures;
  const std::uint64_t rounds = std::max(the_cell.size("items") / count, std::size_t{1});
  const inputs from{count};
  fill(the_cell, from, the_cell.text("failures") == "rare" ? rarely : 0);
  escape(from.data());
  const outcome must = reference(from, rounds, !std::is_same_v<Way, cannot_fail>);
  the_cell.each_repeat([&](sample& the_sample) {
    outcome got;
    const std::uint64_t elapsed_ns =
        the_sample.measure(rounds * count, [&] { got = ask<Way>(from, rounds); });
    the_sample.set(rate_name, millions_per_second(rounds * count, elapsed_ns));
    the_cell.check("work", got.sum == must.sum && got.failures == must.failures,
                   "sum {} of {}, failures {} of {}", got.sum, must.sum, got.failures,
                   must.failures);
  });
}

const experiment question{
    .id = "language/error_signalling",
    .question = "What does it cost to say that a function may fail, and that it did?",
    .isolates =
        "The same function, called and not inlined, whose caller counts the failures. `rare` is "
        "one failure in 4096 calls; the caller catches it one frame up. The two subjects in_sight "
        "have their function in the same file, so that the compiler inlines it and may join calls, "
        "and read a million numbers instead of 4096: that is the loop of the report latency-lab.",
    .not_shown =
        "Deeper stacks, which make exceptions dearer: each frame between is searched and unwound. "
        "Several threads that throw at once. Destructors on the way. An exception allocates, in "
        "the timed loop, since that is part of throwing. Without failures an exception costs what "
        "cannot_fail costs, the call alone: nothing is handed back and nothing is asked, while a "
        "code and a second result are. Which of the two in sight is ahead without failures is "
        "decided by the compiler, which makes vector instructions of one loop and not of the "
        "other.",
    .parameters = {{"failures", "none or rare (one in 4096)", {"none", "rare"}, {"none", "rare"}},
                   items,
                   builds()},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one call"}, processor_time},
    .subjects = {{"error_code", "a code; the value by reference", measure<code>},
                 {"expected", "a value or an error, as std::expected", measure<expected_like>},
                 {"exception", "an exception", measure<exception>},
                 {"optional_in_sight", "std::optional, inlined", measure<optional_in_sight>},
                 {"exception_in_sight", "an exception, inlined", measure<exception_in_sight>},
                 {"cannot_fail", "the call alone, nothing to say", measure<cannot_fail>},
                 empty_loop},
    .baseline = "error_code",
    .expectations = {{.says = "one exception in 4096 calls leaves at most 0.9 of the speed",
                      .quantity = rate_name,
                      .subject = "exception",
                      .over = "exception",
                      .parameters = {{"failures", "rare"}},
                      .over_parameters = {{"failures", "none"}},
                      .at_most = 0.9},
                     {.says = "a rare error code leaves at least 0.75 of the speed",
                      .quantity = rate_name,
                      .subject = "error_code",
                      .over = "error_code",
                      .parameters = {{"failures", "rare"}},
                      .over_parameters = {{"failures", "none"}},
                      .at_least = 0.75}},
    .answers = {{.quantity = "throughput", .subject = "exception", .over = "error_code"},
                {.quantity = "throughput",
                 .subject = "exception",
                 .over = "cannot_fail",
                 .parameters = {{"failures", "none"}}},
                {.quantity = "throughput", .subject = "expected", .over = "error_code"}},
    .yardsticks = {"cannot_fail", "empty_loop"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv, this_build); }
