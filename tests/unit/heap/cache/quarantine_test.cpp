#include "heap/cache/quarantine.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

/// Addresses that nobody reads: the quarantine does not touch blocks.
std::byte* block_number(std::uint64_t number) {
  return reinterpret_cast<std::byte*>((number + 1) * granule_bytes);
}

struct held_blocks {
  quarantine held{};
  std::mt19937 random{1};

  std::byte* add(std::byte* block, size_class class_index) {
    return held.exchange(block, class_index, random() % quarantine::places(class_index));
  }

  std::vector<std::byte*> drain(size_class class_index) {
    std::vector<std::byte*> drained;
    held.drain(class_index, [&](std::byte* const* blocks, std::size_t count) {
      drained.assign(blocks, blocks + count);
    });
    return drained;
  }
};

TEST_CASE("a block leaves once, and not before as many others as the second half holds") {
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    held_blocks blocks;
    std::set<std::byte*> left;
    constexpr std::uint64_t count = 1000;
    for (std::uint64_t each = 0; each < count; ++each) {
      std::byte* const leaves = blocks.add(block_number(each), class_index);
      if (leaves == nullptr) continue;
      CHECK(left.insert(leaves).second);
      const std::uint64_t number = reinterpret_cast<std::uintptr_t>(leaves) / granule_bytes - 1;
      REQUIRE(each - number > quarantine::places(class_index));
    }
    CHECK(blocks.held.held(class_index) <= 2 * quarantine::places(class_index));
    CHECK(blocks.held.held(class_index) == count - left.size());
    for (std::byte* each : blocks.drain(class_index)) CHECK(left.insert(each).second);
    CHECK(left.size() == count);
  }
}

TEST_CASE("when a block leaves cannot be foreseen") {
  constexpr size_class class_index = 1;
  std::set<std::uint64_t> distances;
  held_blocks blocks;
  for (std::uint64_t each = 0; each < 10'000; ++each) {
    std::byte* const leaves = blocks.add(block_number(each), class_index);
    distances.insert(each - reinterpret_cast<std::uintptr_t>(leaves) / granule_bytes);
  }
  CHECK(distances.size() > quarantine::places(class_index));
}

TEST_CASE(
    "one that was drained holds nothing, and can be filled again, and other classes keep theirs") {
  held_blocks blocks;
  CHECK(blocks.drain(1).empty());
  for (int round = 0; round < 3; ++round) {
    for (std::uint64_t each = 0; each < 2; ++each) {
      CHECK(blocks.add(block_number(each), class_count) == nullptr);
    }
    for (std::uint64_t each = 0; each < 50; ++each) (void)blocks.add(block_number(each), 1);
    CHECK(blocks.held.held(1) == 50);
    CHECK(blocks.drain(1).size() == 50);
    CHECK(blocks.held.held(1) == 0);
    CHECK(blocks.drain(1).empty());
    CHECK(blocks.drain(class_count).size() == 2);
  }
}

TEST_CASE("the places of all classes lie apart") {
  held_blocks blocks;
  std::uint64_t number = 0;
  std::array<std::set<std::byte*>, class_slots> of_class;
  for (int round = 0; round < 600; ++round) {
    for (size_class class_index = 1; class_index <= class_count; ++class_index) {
      std::byte* const block = block_number(++number);
      of_class[class_index].insert(block);
      std::byte* const leaves = blocks.add(block, class_index);
      if (leaves != nullptr) CHECK(of_class[class_index].erase(leaves) == 1);
    }
  }
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const std::vector<std::byte*> drained = blocks.drain(class_index);
    CHECK(std::set<std::byte*>(drained.begin(), drained.end()) == of_class[class_index]);
  }
}

} // namespace
