#include "heap/central/hole_search.hpp"

#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

constexpr std::uint32_t map_bits = block_map::bits;

/// Effects: compares a search with one that looks at one bit after the other.
void check_search(const block_map& map, std::uint32_t from) {
  CAPTURE(from);
  hole_search search{map, from};
  while (true) {
    const std::uint32_t first = map.find(true, from, map_bits);
    const hole next = search.next();
    REQUIRE(next.first == first);
    if (first == map_bits) return;
    from = map.find(false, first, map_bits);
    REQUIRE(next.end == from);
  }
}

TEST_CASE("a search for holes finds those that end at, begin at and cross the edges of words") {
  constexpr std::uint32_t edges[] = {0,       1, 63, 64, 65, 127, 128, map_bits - 64, map_bits - 1,
                                     map_bits};
  for (const std::uint32_t first : edges) {
    for (const std::uint32_t end : edges) {
      if (first > end) continue;
      block_map map{};
      map.set_run(first, end - first);
      map.set(700); // another one between most of them
      for (const std::uint32_t from : edges) check_search(map, from);
    }
  }
}

TEST_CASE("a search for holes finds each of a random map, from wherever it begins") {
  stress::random draw{31};
  for (int round = 0; round < 60; ++round) {
    block_map map{};
    for (std::size_t run = 0; run < 80; ++run) {
      const auto first = static_cast<std::uint32_t>(draw.below(map_bits));
      map.set_run(first, static_cast<std::uint32_t>(draw.below(1 + (map_bits - first) % 180)));
    }
    for (int probe = 0; probe < 20; ++probe) {
      check_search(map, static_cast<std::uint32_t>(draw.below(map_bits + 1)));
    }
  }
}

TEST_CASE("a search for holes goes on behind what was cut off below it") {
  block_map map{};
  map.set_run(10, 500);
  map.set_run(600, 8);
  hole_search search{map, 0};
  const hole first = search.next();
  CHECK(first.length() == 500);
  map.clear_run(10, 480);
  CHECK(search.next().first == 600);
  CHECK(search.next().first == map_bits);
  CHECK(search.next().first == map_bits);
}

} // namespace
