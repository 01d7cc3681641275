#include "heap/cache/cache_stacks.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

constexpr size_class smallest_class = 1;
constexpr std::size_t short_room = short_stacks::most_places(smallest_class);

/// A cache that has a short stack of the smallest_class class, and no other one.
struct short_cache {
  thread_cache cache{};
  std::mt19937_64 random{1};
  std::array<std::byte, short_room> blocks{};

  short_cache() { cache.tops[smallest_class] = cache.short_stack(smallest_class); }

  void push(std::size_t number) { push_below(cache, &blocks[number], smallest_class, random()); }

  [[nodiscard]] std::byte* at(std::size_t place) {
    return cache.short_stack(smallest_class)[place];
  }
};

TEST_CASE("a block that goes below the top is in the stack once, and so is each other one") {
  for (int round = 0; round < 1000; ++round) {
    short_cache stack;
    for (std::size_t number = 0; number < short_room; ++number) {
      stack.push(number);
      std::set<std::byte*> distinct;
      for (std::size_t place = 0; place <= number; ++place) distinct.insert(stack.at(place));
      CHECK(distinct.size() == number + 1);
      CHECK(*distinct.begin() >= stack.blocks.data());
      CHECK(*distinct.rbegin() <= &stack.blocks[number]);
    }
    CHECK(stack.at(0) != nullptr);
    CHECK(stack.cache.short_stack(smallest_class)[-1] ==
          nullptr); // the bottom, where refills begin
    CHECK(stack.cache.tops[smallest_class][-1] == stack.blocks.data());
  }
}

TEST_CASE("a block may take each place below the top") {
  short_cache stack;
  std::array<int, short_room> times{};
  constexpr int rounds = 6000;
  for (int round = 0; round < rounds; ++round) {
    stack.cache.tops[smallest_class] = stack.cache.short_stack(smallest_class);
    for (std::size_t number = 0; number < short_room; ++number) stack.push(number);
    for (std::size_t place = 0; place < short_room; ++place) {
      if (stack.at(place) == &stack.blocks[short_room - 1]) ++times[place];
    }
  }
  CHECK(times[short_room - 1] == 0);
  constexpr int expected = rounds / static_cast<int>(short_room - 1);
  for (std::size_t place = 0; place + 1 < short_room; ++place) {
    CHECK(times[place] > expected * 9 / 10); // 1200 each: nearly four standard deviations
    CHECK(times[place] < expected * 11 / 10);
  }
}

} // namespace
