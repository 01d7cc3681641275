#include "harness/random.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

using heapwise::bench::random_numbers;

TEST_CASE("the same seed gives the same numbers, another seed others") {
  random_numbers first{42}, second{42}, other{43};
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const auto number = first.next();
    REQUIRE(number == second.next());
    differs = differs || number != other.next();
  }
  CHECK(differs);
}

TEST_CASE("splitmix64 and xoshiro256** give their published first numbers") {
  // Seed 0: splitmix64 yields e220a8397b1dcdaf 6e789e6aa1b965f4 06c45d188009454f f88bb8a8724c81ec;
  // xoshiro256** starts with rotl(second * 5, 7) * 9.
  random_numbers numbers{0};
  CHECK(numbers.next() == std::rotl(std::uint64_t{0x6e789e6aa1b965f4} * 5, 7) * 9);
}

TEST_CASE("numbers below a bound are uniform") {
  constexpr int rolls = 60'000;
  random_numbers numbers{1};
  std::array<int, 6> seen{};
  for (int i = 0; i < rolls; ++i) ++seen.at(numbers.below(6));
  double chi_square = 0;
  for (const int count : seen) chi_square += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
  CHECK(chi_square < 20.5); // 99.9 % of chi-square with 5 degrees of freedom
  CHECK(numbers.below(1) == 0);
}

TEST_CASE("the unit interval is half open") {
  random_numbers numbers{2};
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double number = numbers.unit();
    REQUIRE(number >= 0);
    REQUIRE(number < 1);
    sum += number;
  }
  CHECK(sum / 10'000 == doctest::Approx(0.5).epsilon(0.02));
}

TEST_CASE("shuffling keeps every item and changes the order") {
  std::vector<int> items(1000);
  std::iota(items.begin(), items.end(), 0);
  const auto before = items;
  random_numbers{3}.shuffle(std::span{items});
  CHECK(items != before);
  std::sort(items.begin(), items.end());
  CHECK(items == before);
}
