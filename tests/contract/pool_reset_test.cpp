// After reset a pool is as good as new: every block once, none twice, none that is not its own.
#include <algorithm>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"

namespace {

using contract::drain;

CONTRACT_TEST_CASE("reset frees all blocks of all chunks", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(48, 100)};
  std::vector<void*> before = drain(blocks);
  REQUIRE(before.size() == 100);
  const std::size_t reserved = blocks.reserved_bytes();
  blocks.reset();
  std::vector<void*> after = drain(blocks);
  std::sort(before.begin(), before.end());
  std::sort(after.begin(), after.end());
  CHECK(after == before);
  CHECK(blocks.reserved_bytes() == reserved);
  for (void* const block : after) CHECK(blocks.deallocate(block));
}

CONTRACT_TEST_CASE("reset makes every block one that was never handed out", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(48, 100)};
  const std::vector<void*> all = drain(blocks);
  constexpr bool refuses = S::refuses_foreign && !S::checking::enabled; // and does not abort
  blocks.reset();
  for (void* const block : all) {
    CHECK_FALSE(blocks.contains(block));
    if (refuses) CHECK_FALSE(blocks.deallocate(block));
  }
  int elsewhere = 0;
  if (refuses) CHECK_FALSE(blocks.deallocate(&elsewhere));
  CHECK(blocks.deallocate(nullptr));
  CHECK(drain(blocks).size() == 100);
}

CONTRACT_TEST_CASE("a reset pool grows on", S, CONTRACT_SETTINGS) {
  heapwise::pool_options options = S::options(32, 64);
  options.max_block_count = 0;
  typename S::pool_type blocks{options};
  const std::size_t wanted = S::how == heapwise::growth::geometric ? 1000 : 64;
  REQUIRE(drain(blocks, 100).size() == std::min<std::size_t>(wanted, 100));
  blocks.reset();
  std::vector<void*> after = drain(blocks, wanted);
  CHECK(after.size() == wanted);
  std::sort(after.begin(), after.end());
  CHECK(std::adjacent_find(after.begin(), after.end()) == after.end());
}

} // namespace
