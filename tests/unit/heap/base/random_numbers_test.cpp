#include "heap/base/random_numbers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

TEST_CASE("each half of a word gives numbers below the limit, the least and the most too") {
  constexpr std::uint64_t lower_only = 0xffff'ffff;
  for (const std::size_t limit : {1U, 2U, 7U, 126U}) {
    CAPTURE(limit);
    CHECK(by_upper_half(lower_only, limit) == 0);
    CHECK(by_upper_half(~lower_only, limit) == limit - 1);
    CHECK(by_lower_half(lower_only, limit) == limit - 1);
    CHECK(by_lower_half(~lower_only, limit) == 0);
  }
}

TEST_CASE("each order of a few things is as likely as each other one") {
  constexpr std::size_t things = 5;
  constexpr int orders = 120;
  constexpr int expected = 1000;
  std::map<std::array<int, things>, int> times;
  small_numbers random;
  for (int round = 0; round < orders * expected; ++round) {
    std::array<int, things> order{};
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t left = things; left > 1; --left)
      std::swap(order[left - 1], order[random.below(left)]);
    ++times[order];
  }
  CHECK(static_cast<int>(times.size()) == orders);
  for (const auto& [order, count] : times) {
    CHECK(count > expected * 4 / 5); // six standard deviations
    CHECK(count < expected * 6 / 5);
  }
}

TEST_CASE("all numbers of a word are equally likely, the last one too") {
  constexpr std::size_t limit = 126;
  constexpr int expected = 2000;
  std::array<int, limit> times{};
  small_numbers random;
  for (std::size_t round = 0; round < limit * expected; ++round) {
    for (int skipped = 0; skipped < 5; ++skipped) static_cast<void>(random.below(limit));
    ++times[random.below(limit)];
  }
  CHECK(*std::min_element(times.begin(), times.end()) > expected * 85 / 100);
  CHECK(*std::max_element(times.begin(), times.end()) < expected * 115 / 100);
}

} // namespace
