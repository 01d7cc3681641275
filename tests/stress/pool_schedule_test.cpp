// Small scenes, many interleavings: yields at the marked points, drawn from a seed that is printed
// when something goes wrong. HEAPWISE_STRESS_SEED runs one seed only.
#include "schedule.hpp"

#include <atomic>
#include <cstdlib>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/pool.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/thread_cached.hpp>

#include "ownership.hpp"
#include "threads.hpp"

namespace {

using heapwise::pool_options;

constexpr std::size_t block_size = 16;

template <class Body>
void for_each_seed(std::size_t count, const Body& body) {
  if (const char* const only = std::getenv("HEAPWISE_STRESS_SEED"); only != nullptr) {
    body(std::stoull(only));
    return;
  }
  for (std::uint64_t seed = 1; seed <= stress::scaled(count); ++seed) {
    CAPTURE(seed);
    body(seed);
  }
}

/// A few threads take and free a few blocks of a pool of very few: what ABA needs.
template <class Pool>
void shuffle(Pool& pool, stress::ownership& owners, std::uint64_t seed, std::size_t threads) {
  std::atomic<std::size_t> wrong{0};
  stress::on_threads(threads, [&](std::size_t me) {
    stress::seed_schedule(seed, me);
    stress::random draw{seed * 100 + me};
    std::vector<void*> mine;
    for (int step = 0; step < 150; ++step) {
      if (mine.size() < 3 && draw.below(2) == 0) {
        void* const block = pool.try_allocate();
        if (block == nullptr) continue;
        if (!owners.take(block, draw())) ++wrong;
        mine.push_back(block);
      } else if (!mine.empty()) {
        std::swap(mine[draw.below(mine.size())], mine.back());
        if (!owners.give(mine.back()) || !pool.deallocate(mine.back())) ++wrong;
        mine.pop_back();
      }
    }
    for (void* const block : mine) {
      owners.give(block);
      pool.deallocate(block);
    }
  });
  REQUIRE(wrong == 0);
}

template <class Pool>
std::vector<void*> drain(Pool& from) {
  std::vector<void*> blocks;
  while (void* const block = from.try_allocate()) blocks.push_back(block);
  return blocks;
}

TEST_CASE_TEMPLATE("few blocks, few threads", Pool, heapwise::pool<heapwise::lock_free>,
                   heapwise::pool<heapwise::lock_free, heapwise::checked>,
                   heapwise::pool<heapwise::thread_cached>) {
  for_each_seed(500, [](std::uint64_t seed) {
    constexpr std::size_t count = 6;
    Pool pool{pool_options{.block_size = block_size, .block_count = count}};
    const std::vector<void*> all = drain(pool);
    REQUIRE(all.size() == count);
    for (void* const block : all) pool.deallocate(block);
    stress::ownership owners{all, block_size};
    shuffle(pool, owners, seed, 3);
    const std::vector<void*> left = drain(pool);
    REQUIRE(std::set<void*>{left.begin(), left.end()} == std::set<void*>{all.begin(), all.end()});
  });
}

TEST_CASE_TEMPLATE("growth from one block, several threads at once", Pool,
                   heapwise::pool<heapwise::lock_free>, heapwise::pool<heapwise::thread_cached>) {
  for_each_seed(500, [](std::uint64_t seed) {
    constexpr std::size_t threads = 3;
    Pool pool{pool_options{.block_size = block_size,
                           .block_count = 1,
                           .growth = heapwise::growth::geometric,
                           .max_block_count = 40}};
    std::vector<std::vector<void*>> taken(threads);
    stress::on_threads(threads, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      for (int i = 0; i < 13; ++i) {
        if (void* const block = pool.try_allocate(); block != nullptr) taken[me].push_back(block);
      }
    });
    std::vector<void*> all = drain(pool);
    for (const auto& each : taken) all.insert(all.end(), each.begin(), each.end());
    REQUIRE(all.size() == 40);
    REQUIRE(std::set<void*>{all.begin(), all.end()}.size() == 40);
    for (void* const block : all) REQUIRE(pool.deallocate(block));
  });
}

TEST_CASE("batches cross while threads come and go") {
  for_each_seed(200, [](std::uint64_t seed) {
    constexpr std::size_t count = 1200;
    heapwise::pool<heapwise::thread_cached> pool{
        pool_options{.block_size = block_size, .block_count = count}};
    stress::on_threads(3, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      stress::random draw{seed + me};
      std::vector<void*> mine;
      for (int turn = 0; turn < 3; ++turn) {
        const std::size_t wanted = draw.below(300);
        while (mine.size() < wanted) mine.push_back(pool.allocate());
        // What one thread took, another frees, and ends at once.
        std::thread{[&] {
          stress::seed_schedule(seed, me + 100);
          for (void* const block : mine) pool.deallocate(block);
        }}.join();
        mine.clear();
      }
    });
    REQUIRE(drain(pool).size() == count);
  });
}

TEST_CASE("a pool dies while threads that hold its caches live on, with others") {
  for_each_seed(200, [](std::uint64_t seed) {
    using cached = heapwise::pool<heapwise::thread_cached>;
    constexpr pool_options options{.block_size = block_size, .block_count = 60};
    std::vector<std::unique_ptr<cached>> pools;
    for (int i = 0; i < 3; ++i) pools.push_back(std::make_unique<cached>(options));
    std::barrier<> turn{3};
    stress::on_threads(3, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      stress::random draw{seed + me};
      for (std::size_t round = 0; round < 6; ++round) {
        cached& pool = *pools[round % 3];
        std::vector<void*> mine;
        for (std::size_t i = draw.below(15); i > 0; --i) mine.push_back(pool.allocate());
        for (void* const block : mine) pool.deallocate(block);
        turn.arrive_and_wait();
        if (me == round % 3) pools[round % 3] = std::make_unique<cached>(options);
        turn.arrive_and_wait();
      }
    });
    for (const auto& each : pools) REQUIRE(drain(*each).size() == 60);
  });
}

} // namespace
