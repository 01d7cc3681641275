#include "drain/calls/zeroed_array.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

using namespace heapwise::bench;

TEST_CASE("an array holds zeros, whatever its size") {
  for (const std::size_t size : {std::size_t{1}, std::size_t{1000}, std::size_t{1} << 20}) {
    CAPTURE(size);
    zeroed_array<std::uint64_t> numbers{size};
    REQUIRE(numbers.size() == size);
    CHECK(
        std::all_of(numbers.begin(), numbers.end(), [](std::uint64_t each) { return each == 0; }));
    numbers[0] = 1;
    numbers[size - 1] = 2;
    CHECK(numbers.data()[size - 1] == 2);
  }
}

TEST_CASE("a large array begins where a large page does") {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  const zeroed_array<std::uint64_t> numbers{large_page / sizeof(std::uint64_t)};
  CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % large_page == 0);
}

TEST_CASE("an array that was moved from is empty, and the other one has its values") {
  zeroed_array<std::uint64_t> one{10};
  one[9] = 7;
  const std::uint64_t* const values = one.data();
  zeroed_array<std::uint64_t> other{std::move(one)};
  CHECK(other.data() == values);
  CHECK(other[9] == 7);
  CHECK(one.size() == 0); // NOLINT(bugprone-use-after-move)
  zeroed_array<std::uint64_t> third{20};
  third = std::move(other);
  CHECK(third.size() == 10);
  CHECK(third[9] == 7);
}

TEST_CASE("an array that grows keeps its values, and more zeros follow") {
  constexpr std::size_t large_page = std::size_t{2} << 20;
  zeroed_array<std::uint64_t> numbers{512};
  for (std::size_t size = 512; size < std::size_t{1} << 20; size *= 4) {
    CAPTURE(size);
    numbers[size - 1] = size;
    numbers.grow(size * 4);
    REQUIRE(numbers.size() == size * 4);
    CHECK(numbers[size - 1] == size);
    CHECK(std::all_of(numbers.begin() + size, numbers.end(),
                      [](std::uint64_t each) { return each == 0; }));
    if (size * 4 * sizeof(std::uint64_t) >= large_page)
      CHECK(reinterpret_cast<std::uintptr_t>(numbers.data()) % large_page == 0);
  }
}

TEST_CASE("an array that cannot grow stays as it is") {
  zeroed_array<std::uint64_t> numbers{512};
  numbers[511] = 7;
  CHECK_THROWS_AS(numbers.grow(std::size_t{1} << 58), std::bad_alloc);
  CHECK(numbers.size() == 512);
  CHECK(numbers[511] == 7);
}
