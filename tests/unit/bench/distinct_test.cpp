#include "harness/memory/distinct.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using namespace heapwise::bench;

TEST_CASE("equal blocks count once, null not at all, and the order stays") {
  int first = 0, second = 0;
  void* blocks[] = {&second, &first, nullptr, &second, nullptr, &first};
  CHECK(count_distinct(blocks) == 2);
  CHECK(blocks[0] == &second);
  CHECK(count_distinct({}) == 0);
  void* nothing[] = {nullptr};
  CHECK(count_distinct(nothing) == 0);
}

TEST_CASE("mapped memory is there, zero and separate") {
  mapped_array<std::uint64_t> numbers{10'000};
  for (const auto number : numbers) REQUIRE(number == 0);
  numbers[9'999] = 7;
  CHECK(numbers.span().back() == 7);
  CHECK_THROWS_AS(mapped_array<char>{SIZE_MAX / 2}, std::bad_alloc);
}
