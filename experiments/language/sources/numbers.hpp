// What dispatch and callable have in common: a loop over numbers that asks a function for each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>

#include "harness/experiment.hpp"
#include "harness/memory/mapped_array.hpp"
#include "harness/rate.hpp"

namespace languages {

using namespace heapwise::bench;

/// What is called: little, so that the way there shows.
constexpr std::uint64_t work_of(std::uint64_t figure) noexcept { return 3 * figure + 1; }

/// The items of the report latency-lab's dispatch: two numbers.
struct two {
  std::uint64_t x;
  std::uint64_t y;
};
constexpr std::uint64_t work_of(const two& figure) noexcept {
  return 3 * figure.x + 7 * figure.y + 1;
}

inline constexpr std::size_t figures = 4096; // 32 KiB: near

/// As many items as the report latency-lab has: 8 MiB of numbers, or 16 of pairs.
inline constexpr std::size_t many_figures = 1 << 20;

inline void make_random(cell& the_cell, std::uint64_t& figure) {
  figure = the_cell.random().next();
}
inline void make_random(cell& the_cell, two& figure) {
  make_random(the_cell, figure.x);
  make_random(the_cell, figure.y);
}

/// The sum over many items. The compiler may join items, if it sees through the call.
template <class Figure, class Call>
void measure_free_calls(cell& the_cell, Call&& call) {
  const std::uint64_t rounds = std::max(the_cell.size("items") / many_figures, std::size_t{1});
  const mapped_array<Figure> from{many_figures};
  std::uint64_t once = 0;
  for (auto& each : from) {
    make_random(the_cell, each);
    once += work_of(each);
  }
  escape(from.data());
  measure_rate(the_cell, rounds * many_figures, rounds * once, [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (const Figure& figure : from) sum += call(figure);
      clobber();
    }
    return sum;
  });
}

/// The sum over all numbers, in this many rounds. One item at a time: `forget` keeps a call that
/// was inlined from becoming vector instructions, which is not what is asked here.
template <class Call>
void measure_calls(cell& the_cell, Call&& call) {
  const auto loops = the_cell.text("loop");
  if constexpr (std::is_invocable_v<Call, const two&>) {
    if (loops == "pairs") return measure_free_calls<two>(the_cell, call);
  }
  if (loops != "alone") return measure_free_calls<std::uint64_t>(the_cell, call);
  const std::uint64_t rounds = std::max(the_cell.size("items") / figures, std::size_t{1});
  const mapped_array<std::uint64_t> from{figures};
  std::uint64_t plain = 0;
  for (auto& each : from) plain += (each = the_cell.random().next());
  escape(from.data());
  measure_rate(the_cell, rounds * figures, rounds * (3 * plain + figures), [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < figures; ++i) {
        sum += call(from[i]);
        forget(sum);
      }
    }
    return sum;
  });
}

inline void measure_loop(cell& the_cell) {
  const std::uint64_t items = the_cell.size("items");
  measure_rate(the_cell, items, items, [&] {
    std::uint64_t done = 0;
    for (; done < items; ++done) forget(done);
    return done;
  });
}

inline const parameter items{"items", "in the timed region", {8'000'000}, {80'000}};
inline const parameter loop{
    "loop",
    "alone: 4096 numbers, one at a time; free: a million, which the compiler may join; pairs: a "
    "million pairs of numbers",
    {"alone"},
    {"alone"},
    "",
    1,
    {"alone", "free", "pairs"}};
inline const subject empty_loop{"empty_loop", "a loop of as many steps, nothing in it",
                                measure_loop};

} // namespace languages
