#include "contents/traced_blocks.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <vector>

using namespace heapwise::bench;

namespace {

traced_block block_of(std::uint64_t number) {
  traced_block block;
  block.time = number * 3;
  block.size = number * 5;
  block.site = static_cast<std::uint32_t>(number % 7);
  block.thread = static_cast<std::uint32_t>(number % 11);
  return block;
}

} // namespace

TEST_CASE("a table of traced blocks gives each block once, in any order of ends") {
  std::mt19937_64 random{3}; // NOLINT(cert-msc51-cpp): the same numbers each time
  for (const std::size_t most : {std::size_t{1}, std::size_t{300}, std::size_t{20'000}}) {
    traced_blocks table;
    std::vector<std::uint64_t> expected;
    std::uint64_t next = 0;
    for (std::size_t step = 0; step < 100'000; ++step) {
      if (expected.size() < most) {
        table.add(next, block_of(next));
        expected.push_back(next++);
        continue;
      }
      const std::size_t which = random() % expected.size();
      traced_block ended;
      REQUIRE(table.take(expected[which], ended));
      CHECK(ended.key == expected[which] + 1);
      CHECK(ended.time == expected[which] * 3);
      CHECK(ended.size == expected[which] * 5);
      CHECK_FALSE(table.take(expected[which], ended));
      expected[which] = expected.back();
      expected.pop_back();
    }
    std::unordered_map<std::uint64_t, int> visits;
    table.visit([&](const traced_block& each) { ++visits[each.key - 1]; });
    CHECK(visits.size() == expected.size());
    for (const std::uint64_t number : expected) CHECK(visits[number] == 1);
  }
}

TEST_CASE("a cleared table of traced blocks is empty") {
  traced_blocks table;
  for (std::uint64_t number = 0; number < 5'000; ++number) table.add(number, block_of(number));
  table.clear();
  traced_block ended;
  CHECK_FALSE(table.take(4'000, ended));
  table.add(4'000, block_of(4'000));
  CHECK(table.take(4'000, ended));
}
