#include "heap/space/span.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "stress/threads.hpp"

namespace {

using namespace heapwise::detail;

constexpr std::uint32_t bits = block_map::bits;

// Where a run may go wrong: at the edges of words and of the map.
constexpr std::uint32_t edges[] = {0,   1,   62,  63,        64,        65,        127,      128,
                                   129, 191, 192, bits - 65, bits - 64, bits - 63, bits - 1, bits};

std::uint32_t slow_find(const std::vector<bool>& map, bool value, std::uint32_t from,
                        std::uint32_t limit) {
  while (from < limit && map[from] != value) ++from;
  return std::max(from, limit) == limit ? std::min(from, limit) : limit;
}

bool equal(const block_map& map, const std::vector<bool>& expected) {
  for (std::uint32_t at = 0; at < bits; ++at) {
    if (map.test(at) != expected[at]) return false;
  }
  return true;
}

TEST_CASE("fill sets as many bits as said and no other") {
  for (const std::uint32_t count : edges) {
    CAPTURE(count);
    block_map map{};
    map.fill(count);
    std::vector<bool> expected(bits);
    std::fill_n(expected.begin(), count, true);
    CHECK(equal(map, expected));
    for (const std::uint32_t limit : edges) CHECK(map.count(limit) == std::min(limit, count));
  }
}

TEST_CASE("runs between any two edges are set, found and cleared, and nothing around them") {
  for (const std::uint32_t first : edges) {
    for (const std::uint32_t end : edges) {
      if (first > end) continue;
      CAPTURE(first);
      CAPTURE(end);
      block_map map{};
      std::vector<bool> expected(bits);
      map.set_run(first, end - first);
      std::fill(expected.begin() + first, expected.begin() + end, true);
      CHECK(equal(map, expected));
      if (first < end) {
        CHECK(map.find(true, 0, bits) == first);
        CHECK(map.find(false, first, bits) == end);
      }
      CHECK(map.find(true, end, bits) == bits);
      map.fill(bits);
      map.clear_run(first, end - first);
      expected.flip();
      CHECK(equal(map, expected));
    }
  }
}

TEST_CASE("find agrees with looking at one bit after the other, for random maps and limits") {
  stress::random draw{20};
  for (int round = 0; round < 40; ++round) {
    block_map map{};
    std::vector<bool> expected(bits);
    for (std::size_t run = 0; run < 40; ++run) {
      const auto first = static_cast<std::uint32_t>(draw.below(bits));
      const auto count = static_cast<std::uint32_t>(draw.below(std::min(200U, bits - first + 1)));
      const bool value = draw.below(2) != 0;
      value ? map.set_run(first, count) : map.clear_run(first, count);
      std::fill_n(expected.begin() + first, count, value);
    }
    for (int probe = 0; probe < 300; ++probe) {
      const auto from = static_cast<std::uint32_t>(draw.below(bits + 1));
      const auto limit = from + static_cast<std::uint32_t>(draw.below(bits - from + 1));
      const bool value = draw.below(2) != 0;
      REQUIRE(map.find(value, from, limit) == slow_find(expected, value, from, limit));
    }
  }
}

TEST_CASE("bits of a word are set only if none of them is set, and else nothing changes") {
  block_map map{};
  map.set(64);
  map.set(127);
  std::vector<bool> expected(bits);
  expected[64] = expected[127] = true;
  CHECK_FALSE(map.set_if_clear(1, 3));
  CHECK_FALSE(map.set_if_clear(1, ~std::uint64_t{0}));
  CHECK(equal(map, expected));
  CHECK(map.set_if_clear(1, 6));
  CHECK(map.set_if_clear(2, ~std::uint64_t{0}));
  expected[65] = expected[66] = true;
  std::fill_n(expected.begin() + 128, 64, true);
  CHECK(equal(map, expected));
}

TEST_CASE("a single bit is set once, and the others of its word stay") {
  block_map map{};
  for (const std::size_t block : std::initializer_list<std::size_t>{0, 63, 64, 100, 4095}) {
    CAPTURE(block);
    CHECK(map.set_one_if_clear(block));
    CHECK_FALSE(map.set_one_if_clear(block));
    CHECK(map.test(static_cast<std::uint32_t>(block)));
  }
  CHECK(map.count(block_map::bits) == 5);
}

TEST_CASE("the lowest bits are taken in runs, in order, and the others stay") {
  stress::random draw{21};
  for (int round = 0; round < 200; ++round) {
    block_map map{};
    std::vector<bool> expected(bits);
    std::uint32_t set = 0;
    const std::size_t runs = 1 + draw.below(60);
    for (std::size_t run = 0; run < runs; ++run) {
      const auto first = static_cast<std::uint32_t>(draw.below(bits));
      const auto count = static_cast<std::uint32_t>(draw.below(std::min(150U, bits - first) + 1));
      map.set_run(first, count);
      std::fill_n(expected.begin() + first, count, true);
    }
    set = static_cast<std::uint32_t>(std::count(expected.begin(), expected.end(), true));
    const auto wanted = static_cast<std::uint32_t>(draw.below(set + 1));
    std::uint32_t taken = 0;
    std::uint32_t behind = 0;
    map.take_lowest(wanted, [&](std::uint32_t first, std::uint32_t length) {
      REQUIRE(length > 0);
      REQUIRE(std::find(expected.begin() + behind, expected.begin() + first, true) ==
              expected.begin() + first);
      for (std::uint32_t at = first; at < first + length; ++at) {
        REQUIRE(expected[at]);
        expected[at] = false;
      }
      behind = first + length;
      taken += length;
    });
    CHECK(taken == wanted);
    CHECK(equal(map, expected));
  }
}

TEST_CASE("bits are taken by chance, until those are too few") {
  for (const std::uint32_t limit : {64U, 100U, 1000U, bits}) {
    block_map map{};
    map.fill(limit);
    std::vector<bool> expected(bits);
    std::fill_n(expected.begin(), limit, true);
    const auto take = [&](std::uint32_t wanted, std::uint32_t first_word, std::uint64_t chance) {
      std::uint32_t taken = 0;
      map.take_scattered(
          wanted, limit, first_word, [&] { return chance; },
          [&](std::uint32_t at) {
            REQUIRE(expected[at]);
            expected[at] = false;
            ++taken;
          });
      CHECK(taken == wanted);
      CHECK(equal(map, expected));
    };
    constexpr std::uint64_t odd_ones = 0xaaaa'aaaa'aaaa'aaaa;
    const std::uint32_t last_word = (limit - 1) / block_map::word_bits;
    take(1, last_word, odd_ones);
    CHECK(map.count(last_word * block_map::word_bits) == last_word * block_map::word_bits);
    take(map.count(limit) / 4, 0, odd_ones);
    for (std::uint32_t at = 0; at < limit; at += 2) CHECK(expected[at]);
    take(map.count(limit) / 4 * 3, 0, odd_ones); // more than there are of these
    take(0, last_word, odd_ones);
    take(map.count(limit), last_word, 0);
    CHECK(map.count(limit) == 0);
  }
}

TEST_CASE("the bits of pages") {
  CHECK(page_bits(0, 1) == 1);
  CHECK(page_bits(63, 1) == std::uint64_t{1} << 63);
  CHECK(page_bits(0, 64) == ~std::uint64_t{0});
  CHECK(page_bits(4, 3) == 0x70);
}

} // namespace
