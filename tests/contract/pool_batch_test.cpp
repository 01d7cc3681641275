// Many blocks at once: the same blocks as one by one.
#include <atomic>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"

namespace {

using heapwise::growth;

CONTRACT_TEST_CASE("as many blocks as there are, each once, then all back", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(40, 500)};
  std::vector<void*> all(600, nullptr);
  for (int round = 0; round < 3; ++round) {
    CHECK(blocks.try_allocate_many({all.data(), 0}) == 0);
    CHECK(blocks.try_allocate_many({all.data(), 120}) == 120);
    CHECK(blocks.try_allocate_many({all.data() + 120, 480}) == 380);
    CHECK(std::set<void*>{all.begin(), all.begin() + 500}.size() == 500);
    for (std::size_t i = 0; i < 500; ++i) CHECK(blocks.contains(all[i]));
    CHECK(blocks.try_allocate_many({all.data() + 500, 1}) == 0);
    CHECK(blocks.deallocate_many({all.data(), 1}) == 1);
    CHECK(blocks.deallocate_many({all.data() + 1, 0}) == 0);
    CHECK(blocks.deallocate_many({all.data() + 1, 499}) == 499);
  }
  CHECK(contract::drain(blocks).size() == 500);
}

CONTRACT_TEST_CASE("an address that is not a block is left out", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(40, 10)};
  std::vector<void*> all(10, nullptr);
  REQUIRE(blocks.try_allocate_many(all) == 10);
  int elsewhere = 0;
  all.insert(all.begin() + 3, nullptr);
  if (S::refuses_foreign && !S::checking::enabled) all.insert(all.begin(), &elsewhere);
  CHECK(blocks.deallocate_many(all) == 10);
  CHECK(contract::drain(blocks).size() == 10);
}

TEST_CASE_TEMPLATE("by several threads", Policy, heapwise::locked, heapwise::lock_free,
                   heapwise::thread_cached) {
  heapwise::pool<Policy, heapwise::checked> blocks{{.block_size = 16, .block_count = 4000}};
  const auto churn = [&](std::size_t count) {
    std::vector<void*> mine(count, nullptr);
    for (int round = 0; round < 300; ++round) {
      const std::size_t got = blocks.try_allocate_many(mine);
      for (std::size_t i = 0; i < got; ++i) *static_cast<std::size_t*>(mine[i]) = count + i;
      for (std::size_t i = 0; i < got; ++i) {
        REQUIRE(*static_cast<std::size_t*>(mine[i]) == count + i);
      }
      REQUIRE(blocks.deallocate_many({mine.data(), got}) == got);
    }
  };
  std::thread one{churn, 100};
  std::thread two{churn, 70};
  churn(33);
  one.join();
  two.join();
  CHECK(blocks.shrink());
  CHECK(contract::drain(blocks).size() == 4000);
}

TEST_CASE("an instrumented pool counts each block of a batch") {
  heapwise::instrumented<heapwise::pool<>> blocks{{.block_size = 16, .block_count = 10}};
  std::vector<void*> all(12, nullptr);
  CHECK(blocks.try_allocate_many(all) == 10);
  CHECK(blocks.deallocate_many({all.data(), 4}) == 4);
  CHECK(blocks.counts().live == 6);
  CHECK(blocks.counts().failed_allocations == 1);
}

} // namespace
