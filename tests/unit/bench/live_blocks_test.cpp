#include "drain/calls/live_blocks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

using namespace heapwise::bench;

namespace {

/// The table, and what it should hold: numbers by address.
struct both {
  live_blocks table;
  std::unordered_map<std::uint64_t, std::uint64_t> expected;
  std::vector<std::uint64_t> addresses; ///< of `expected`, in any order

  void make(std::uint64_t address, std::uint64_t number) {
    live_block* const place = table.place_for(address);
    if (!expected.try_emplace(address, number).second) {
      CHECK(place->address == address);
      return;
    }
    REQUIRE(place->address == 0);
    table.place_new(place, {address, number, live_block::pack(number * 3, 4), 5, 6});
    addresses.push_back(address);
  }

  void end(std::size_t which) {
    std::swap(addresses[which], addresses.back());
    live_block* const block = table.find(addresses.back());
    REQUIRE(block != nullptr);
    table.erase(block);
    expected.erase(addresses.back());
    addresses.pop_back();
  }

  void check() {
    REQUIRE(table.count() == expected.size());
    std::size_t visited = 0;
    table.visit([&](const live_block&) { ++visited; });
    REQUIRE(visited == expected.size());
    for (const auto& [address, number] : expected) {
      const live_block* const block = table.find(address);
      REQUIRE(block != nullptr);
      REQUIRE(block->number == number);
      REQUIRE(block->size() == number * 3);
      REQUIRE(block->alignment_log() == 4);
    }
    // What is not there is not found: each search ends.
    for (std::uint64_t other = 8; other < 800; other += 16) REQUIRE(table.find(other) == nullptr);
  }
};

} // namespace

TEST_CASE("the table holds what lives, while it grows and shrinks") {
  for (unsigned seed = 0; seed != 100; ++seed) {
    CAPTURE(seed);
    std::mt19937_64 random{seed};
    both blocks;
    std::uint64_t number = 0;
    // Each time it grows it is looked at: it is more than half full then.
    for (const std::size_t most : {513U, 1100U, 2100U}) {
      while (blocks.expected.size() < most) {
        if (random() % 4 == 0 && !blocks.addresses.empty()) {
          blocks.end(random() % blocks.addresses.size());
        } else {
          blocks.make((random() % 100'000 + 1) * 16, number++);
        }
      }
      blocks.check();
    }
    while (blocks.addresses.size() > 10) blocks.end(random() % blocks.addresses.size());
    blocks.check();
    blocks.table.clear();
    CHECK(blocks.table.count() == 0);
  }
}

TEST_CASE("a table grows over the size of a large page") {
  both blocks;
  for (std::uint64_t number = 0; number != 70'000; ++number)
    blocks.make((number + 100) * 32, number);
  blocks.check();
}
