// What variant_vs_virtual and rtti have in common: objects of four kinds, or of two, in an order
// that a predictor can learn or not, and what they do to a sum.
#pragma once

#include <bit>
#include <cstddef>

#include "sources/numbers.hpp"

namespace languages {

template <std::size_t kind>
constexpr std::uint64_t done_by(std::uint64_t sum, std::uint64_t figure) noexcept {
  if constexpr (kind == 0) return sum + figure;
  if constexpr (kind == 1) return sum ^ figure;
  if constexpr (kind == 2) return sum - figure;
  if constexpr (kind == 3) return std::rotl(sum, 1) + figure;
}

/// What the objects are, and what they hold; made before any of them.
struct plan {
  explicit plan(cell& the_cell) : kind{the_cell.size("objects")}, figure{the_cell.size("objects")} {
    const bool random = the_cell.text("order") == "random";
    const std::size_t kinds = the_cell.size("kinds");
    for (std::size_t i = 0; i < size(); ++i) {
      kind[i] = static_cast<unsigned char>(random ? the_cell.random().below(kinds) : i % kinds);
      figure[i] = the_cell.random().next();
    }
  }

  [[nodiscard]] std::size_t size() const noexcept { return kind.size(); }

  /// The sum after this many rounds, from the plan alone.
  [[nodiscard]] std::uint64_t expected(std::uint64_t rounds) const noexcept {
    std::uint64_t sum = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < size(); ++i) {
        if (kind[i] == 0) sum += figure[i];
        if (kind[i] == 1) sum ^= figure[i];
        if (kind[i] == 2) sum -= figure[i];
        if (kind[i] == 3) sum = (sum << 1 | sum >> 63) + figure[i];
      }
    }
    return sum;
  }

  mapped_array<unsigned char> kind;
  mapped_array<std::uint64_t> figure;
};

/// `Objects` is made of a plan; `apply(i, sum)` lets the i-th object do its own.
template <class Objects>
void measure_kinds(cell& the_cell) {
  const plan the_plan{the_cell};
  const std::size_t objects = the_plan.size();
  const std::uint64_t rounds = std::max(the_cell.size("items") / objects, std::size_t{1});
  const Objects all{the_plan};
  escape(&all);
  measure_rate(the_cell, rounds * objects, all.expected(the_plan, rounds), [&] {
    std::uint64_t sum = 0;
    for (std::uint64_t round = 0; round < rounds; ++round) {
      for (std::size_t i = 0; i < objects; ++i) {
        sum = all.apply(i, sum);
        forget(sum);
      }
    }
    return sum;
  });
}

/// `Objects<4>` or `Objects<2>`, as many kinds as the cell has.
template <template <std::size_t> class Objects>
void measure_either(cell& the_cell) {
  if (the_cell.size("kinds") == 2) return measure_kinds<Objects<2>>(the_cell);
  measure_kinds<Objects<4>>(the_cell);
}

/// No kinds: every object's figure is added. What reading them and going round costs.
struct without_kinds {
  explicit without_kinds(const plan& the_plan) : figure{the_plan.figure} {}
  [[nodiscard]] std::uint64_t apply(std::size_t i, std::uint64_t sum) const noexcept {
    return sum + figure[i];
  }
  [[nodiscard]] std::uint64_t expected(const plan& the_plan, std::uint64_t rounds) const noexcept {
    std::uint64_t sum = 0;
    for (const std::uint64_t each : the_plan.figure) sum += each;
    return sum * rounds;
  }
  const mapped_array<std::uint64_t>& figure;
};

inline const parameter order{"order",
                             "of the kinds: rotating (easily predicted) or random",
                             {"rotating", "random"},
                             {"rotating", "random"}};
inline const parameter kind_items{"items", "in the timed region", {4'194'304}, {65'536}};
inline const parameter kinds{
    "kinds", "4, or 2 as in the report latency-lab; a program for each", {4}, {4}, "", 2};
inline const parameter objects{"objects", "asked in turn", {65'536}, {65'536}};
inline const subject empty_loop_of_kinds{"empty_loop", "the numbers added, no kinds",
                                         measure_kinds<without_kinds>};

} // namespace languages
