// How many blocks a thread with a cache may keep from others, and what an exhausted thread can do.
#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/pool.h>
#include <heapwise/heapwise.hpp>

#include "drain.hpp"
#include "threads.hpp"

namespace {

using plain = heapwise::pool<heapwise::thread_cached>;
using checked = heapwise::pool<heapwise::thread_cached, heapwise::checked>;

constexpr std::initializer_list<std::size_t> counts{1,   2,   16,  64,   100,  128,
                                                    200, 333, 512, 1000, 4000, 20'000};
constexpr std::initializer_list<std::size_t> block_sizes{8, 16, 24, 64, 500};

using stress::drain;

/// As drain, on a thread of its own, which ends then.
template <class Pool>
std::vector<void*> drain_elsewhere(Pool& from) {
  std::vector<void*> blocks;
  std::thread{[&] { blocks = drain(from); }}.join();
  return blocks;
}

TEST_CASE_TEMPLATE("a cache keeps no more than it says, and little of a small pool", Pool, plain,
                   checked) {
  for (const std::size_t block_size : block_sizes) {
    for (const std::size_t count : counts) {
      CAPTURE(block_size);
      CAPTURE(count);
      Pool pool{{.block_size = block_size, .block_count = count}};
      const std::size_t most = pool.cached_blocks_max();
      CHECK(most <= 4 + count / 16);
      const std::vector<void*> all = drain(pool);
      REQUIRE(all.size() == count);
      // Freed in all the ways that leave as much as can be: all at once, and again after some.
      for (void* const block : all) pool.deallocate(block);
      const std::vector<void*> theirs = drain_elsewhere(pool);
      CHECK(theirs.size() + most >= count);
      stress::random draw{count};
      std::vector<void*> mine = theirs;
      for (int i = 0; i < 2000 && !mine.empty(); ++i) {
        for (std::size_t n = draw.below(most + 9); n > 0 && !mine.empty(); --n) {
          pool.deallocate(mine.back());
          mine.pop_back();
        }
        for (std::size_t n = draw.below(most + 9); n > 0; --n) {
          if (void* const block = pool.try_allocate()) mine.push_back(block);
        }
      }
      const std::size_t rest = drain_elsewhere(pool).size();
      CHECK(rest + mine.size() + most >= count);
    }
  }
}

TEST_CASE_TEMPLATE("one block on its way from thread to thread never runs out", Pool, plain,
                   checked) {
  for (const std::size_t count : {64u, 100u, 128u, 180u, 200u, 512u}) {
    CAPTURE(count);
    Pool pool{{.block_size = 64, .block_count = count}};
    std::atomic<void*> box{nullptr};
    std::atomic<bool> ends{false};
    std::thread consumer{[&] {
      while (!ends) {
        if (void* const block = box.load(); block != nullptr) {
          pool.deallocate(block);
          box = nullptr;
          box.notify_one();
        } else {
          std::this_thread::yield();
        }
      }
    }};
    std::size_t refused = 0;
    for (std::size_t i = stress::scaled(5000); i > 0; --i) {
      void* const block = pool.try_allocate();
      if (block == nullptr) {
        ++refused;
        continue;
      }
      box = block;
      box.wait(block);
    }
    ends = true;
    consumer.join();
    CHECK(refused == 0);
  }
}

// capacity >= live + (threads - 1) * cached_blocks_max(): the rule in the contract, at its limit.
TEST_CASE_TEMPLATE("nobody is refused in a pool that follows the rule", Pool, plain, checked) {
  constexpr std::size_t threads = 4;
  for (const std::size_t count : {64u, 128u, 200u, 512u}) {
    CAPTURE(count);
    Pool pool{{.block_size = 40, .block_count = count}};
    const std::size_t live_most = count - (threads - 1) * pool.cached_blocks_max();
    std::atomic<std::size_t> live{0};
    std::atomic<std::size_t> refused{0};
    stress::on_threads(threads, [&](std::size_t me) {
      stress::random draw{me};
      std::vector<void*> mine;
      for (std::size_t i = stress::scaled(20'000); i > 0; --i) {
        if (draw.below(2) == 0 || mine.empty()) {
          if (live.fetch_add(1) >= live_most) {
            --live;
            continue;
          }
          if (void* const block = pool.try_allocate(); block != nullptr) {
            mine.push_back(block);
          } else {
            ++refused;
            --live;
          }
        } else {
          for (std::size_t n = draw.below(mine.size() + 1); n > 0; --n) {
            pool.deallocate(mine.back());
            mine.pop_back();
            --live;
          }
        }
      }
      for (void* const block : mine) {
        pool.deallocate(block);
        --live;
      }
    });
    CHECK(refused == 0);
  }
}

TEST_CASE("after a refusal the next exchange of another thread gives back all that it keeps") {
  for (const std::size_t count : {64u, 512u, 4096u, 20'000u}) {
    CAPTURE(count);
    plain pool{{.block_size = 64, .block_count = count}};
    std::vector<void*> mine = drain(pool);
    const std::size_t kept_most = pool.cached_blocks_max();
    const auto free_some = [&](std::size_t blocks) {
      for (; blocks > 0 && !mine.empty(); --blocks) {
        pool.deallocate(mine.back());
        mine.pop_back();
      }
    };
    free_some(count / 4 + kept_most);
    const std::size_t given_before = drain_elsewhere(pool).size(); // its last request is refused
    free_some(kept_most);
    const std::size_t given_after = drain_elsewhere(pool).size();
    // All of the first series; of the second, what was freed up to the exchange.
    CHECK(given_before + given_after > count / 4 + kept_most);
  }
}

TEST_CASE("how many blocks a cache keeps, asked of every kind of pool") {
  constexpr heapwise::pool_options options{.block_size = 64, .block_count = 5000};
  CHECK(heapwise::pool<>{options}.cached_blocks_max() == 0);
  CHECK(heapwise::pool<heapwise::lock_free>{options}.cached_blocks_max() == 0);
  const std::size_t kept = plain{options}.cached_blocks_max();
  CHECK(kept > 0);
  CHECK(heapwise::instrumented<plain>{options}.cached_blocks_max() == kept);
  for (const int counted : {0, 1}) {
    heapwise_pool_options plain_options = HEAPWISE_POOL_OPTIONS_INIT;
    plain_options.block_size = options.block_size;
    plain_options.block_count = options.block_count;
    plain_options.counted = counted;
    heapwise_pool* const cached = heapwise_pool_create(&plain_options, HEAPWISE_THREAD_CACHED);
    CHECK(heapwise_pool_cached_blocks_max(cached) == kept);
    heapwise_pool_destroy(cached);
    heapwise_pool* const locked = heapwise_pool_create(&plain_options, HEAPWISE_LOCKED);
    CHECK(heapwise_pool_cached_blocks_max(locked) == 0);
    heapwise_pool_destroy(locked);
  }
  CHECK(heapwise_pool_cached_blocks_max(nullptr) == 0);
}

} // namespace
