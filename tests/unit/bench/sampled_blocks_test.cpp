// The table of sampled blocks beside a set, and the bits by which a free asks.
#include "profiler/sampled_blocks.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <memory>
#include <random>
#include <set>

using namespace heapwise::bench;

namespace {

const void* block_at(std::uint64_t address) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address));
}

/// Addresses that have one bit in common.
std::uint64_t address_of_one_bit(std::uint64_t number) { return number << 38 | 0x1000; }

} // namespace

TEST_CASE("a sampled block is found until it ends, and no other one is") {
  const auto table = std::make_unique<sampled_blocks>();
  std::set<std::uint64_t> live;
  std::mt19937_64 random{1};
  for (int i = 0; i != 200'000; ++i) {
    // Few addresses, so that many are neighbours and many are met again.
    const std::uint64_t address = 0x5555'0000'0000 + 16 * (random() % 4096);
    const void* const block = block_at(address);
    if (live.contains(address)) {
      REQUIRE(table->may_hold(block));
      REQUIRE(table->erase(address));
      live.erase(address);
    } else {
      REQUIRE(!table->erase(address));
      REQUIRE(table->insert(address));
      live.insert(address);
    }
  }
  for (const std::uint64_t each : live) {
    CHECK(table->may_hold(block_at(each)));
    CHECK(table->erase(each));
    CHECK(!table->may_hold(block_at(each)));
  }
}

TEST_CASE("the bit of many blocks stays as long as one of them is there") {
  const auto table = std::make_unique<sampled_blocks>();
  constexpr std::uint64_t count = 300; // more than are counted
  for (std::uint64_t i = 1; i <= count; ++i) REQUIRE(table->insert(address_of_one_bit(i)));
  for (std::uint64_t i = 1; i != count; ++i) REQUIRE(table->erase(address_of_one_bit(i)));
  CHECK(table->may_hold(block_at(address_of_one_bit(count))));
  CHECK(table->erase(address_of_one_bit(count)));
}

TEST_CASE("the bit of few blocks ends with the last of them") {
  const auto table = std::make_unique<sampled_blocks>();
  const void* const first = block_at(address_of_one_bit(1));
  for (std::uint64_t i = 1; i <= 3; ++i) REQUIRE(table->insert(address_of_one_bit(i)));
  for (std::uint64_t i = 1; i <= 3; ++i) {
    CHECK(table->may_hold(first));
    REQUIRE(table->erase(address_of_one_bit(i)));
  }
  CHECK(!table->may_hold(first));
}

TEST_CASE("a table that is full takes no more, and a marked address stays") {
  const auto table = std::make_unique<sampled_blocks>();
  constexpr std::uint64_t marked = 0x7777'0000'0010;
  table->mark(marked);
  for (std::uint64_t i = 1; i <= sampled_blocks::most; ++i) REQUIRE(table->insert(i * 48));
  CHECK(!table->insert((sampled_blocks::most + 1) * 48));
  for (std::uint64_t i = 1; i <= sampled_blocks::most; ++i) REQUIRE(table->erase(i * 48));
  CHECK(table->may_hold(block_at(marked)));
  CHECK(!table->erase(marked));
  table->forget();
  CHECK(table->may_hold(block_at(marked)));
}

TEST_CASE("a table that forgot its blocks takes as many again") {
  const auto table = std::make_unique<sampled_blocks>();
  for (std::uint64_t i = 1; i <= sampled_blocks::most; ++i) REQUIRE(table->insert(i * 48));
  table->forget();
  CHECK(!table->erase(48));
  for (std::uint64_t i = 1; i <= sampled_blocks::most; ++i) REQUIRE(table->insert(i * 48));
}
