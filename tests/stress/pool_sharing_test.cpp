// All threads at one pool: each block has one owner, whichever thread frees it, and none is lost.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/heapwise.hpp>

#include "contents.hpp"
#include "drain.hpp"
#include "mailbox.hpp"
#include "ownership.hpp"
#include "threads.hpp"

namespace {

using heapwise::growth;
using heapwise::pool_options;

constexpr std::size_t block_size = 40;

#define SHARED_POOLS                                                     \
  heapwise::pool<heapwise::locked>, heapwise::pool<heapwise::lock_free>, \
      heapwise::pool<heapwise::thread_cached>,                           \
      heapwise::pool<heapwise::locked, heapwise::checked>,               \
      heapwise::pool<heapwise::lock_free, heapwise::checked>,            \
      heapwise::pool<heapwise::thread_cached, heapwise::checked>

using stress::drain;

/// All blocks of a pool that cannot grow; they are free again afterwards.
template <class Pool>
std::vector<void*> census(Pool& pool) {
  std::vector<void*> blocks = drain(pool);
  for (void* const block : blocks) pool.deallocate(block);
  return blocks;
}

template <class Pool>
void check_nothing_lost(Pool& pool, std::size_t count) {
  const std::vector<void*> left = drain(pool);
  CHECK(left.size() == count);
  CHECK(stress::are_distinct(left));
}

TEST_CASE_TEMPLATE("allocated here, freed there", Pool, SHARED_POOLS) {
  constexpr std::size_t count = 2000;
  Pool pool{pool_options{.block_size = block_size, .block_count = count}};
  stress::ownership owners{census(pool), block_size};
  stress::mailbox mail;
  std::atomic<std::size_t> wrong{0};
  const std::size_t steps = stress::scaled(100'000);
  stress::on_threads(6, [&](std::size_t me) {
    stress::random draw{me};
    for (std::size_t i = 0; i < steps; ++i) {
      void* const block = pool.try_allocate();
      if (block != nullptr && !owners.take(block, draw())) ++wrong;
      void* const received = mail.exchange(draw.below(stress::mailbox::size), block);
      if (received == nullptr) continue;
      if (!owners.give(received) || !pool.deallocate(received)) ++wrong;
    }
  });
  CHECK(wrong == 0);
  for (std::size_t i = 0; i < stress::mailbox::size; ++i) {
    if (void* const block = mail.exchange(i, nullptr); block != nullptr) pool.deallocate(block);
  }
  check_nothing_lost(pool, count);
}

TEST_CASE_TEMPLATE("everybody wants more than there is", Pool, SHARED_POOLS) {
  constexpr std::size_t count = 100;
  constexpr std::size_t threads = 5;
  Pool pool{pool_options{.block_size = block_size, .block_count = count}};
  stress::ownership owners{census(pool), block_size};
  std::atomic<std::size_t> wrong{0};
  const std::size_t rounds = stress::scaled(5000);
  stress::on_threads(threads, [&](std::size_t me) {
    stress::random draw{me};
    std::vector<void*> mine;
    for (std::size_t i = 0; i < rounds; ++i) {
      const std::size_t wanted = draw.below(40);
      while (mine.size() < wanted) {
        void* const block = pool.try_allocate();
        if (block == nullptr) break;
        if (!owners.take(block, draw())) ++wrong;
        mine.push_back(block);
      }
      while (!mine.empty()) {
        if (!owners.give(mine.back()) || !pool.deallocate(mine.back())) ++wrong;
        mine.pop_back();
      }
    }
  });
  CHECK(wrong == 0);
  // The threads have ended, so no cache holds anything back.
  check_nothing_lost(pool, count);
}

// With as many blocks as threads, each holding at most one, nobody may ever be refused: that a
// lock-free pool seems empty only while it is empty is a promise of its own.
TEST_CASE("a lock-free pool is exhausted only if it really is") {
  constexpr std::size_t threads = 5;
  heapwise::pool<heapwise::lock_free> pool{
      pool_options{.block_size = block_size, .block_count = threads}};
  std::atomic<std::size_t> refused{0};
  const std::size_t steps = stress::scaled(200'000);
  stress::on_threads(threads, [&](std::size_t) {
    for (std::size_t i = 0; i < steps; ++i) {
      void* const block = pool.try_allocate();
      if (block == nullptr) {
        ++refused;
      } else {
        pool.deallocate(block);
      }
    }
  });
  CHECK(refused == 0);
}

TEST_CASE_TEMPLATE("growth under contention", Pool, SHARED_POOLS) {
  const std::size_t rounds = stress::scaled(100);
  for (std::size_t round = 0; round < rounds; ++round) {
    constexpr std::size_t threads = 4;
    constexpr std::size_t each = 700;
    Pool pool{
        pool_options{.block_size = block_size, .block_count = 1, .growth = growth::geometric}};
    std::vector<std::vector<void*>> taken(threads);
    stress::on_threads(threads, [&](std::size_t me) {
      for (std::size_t i = 0; i < each; ++i) {
        void* const block = pool.allocate();
        std::memset(block, static_cast<int>(me), block_size);
        taken[me].push_back(block);
        if (i % 7 == 0) {
          pool.deallocate(taken[me].back());
          taken[me].pop_back();
        }
      }
    });
    std::vector<void*> all;
    for (std::size_t me = 0; me < threads; ++me) {
      for (void* const block : taken[me]) {
        all.push_back(block);
        REQUIRE(stress::all_are(block, block_size, static_cast<unsigned char>(me)));
        REQUIRE(pool.deallocate(block));
      }
    }
    CHECK(stress::are_distinct(all));
    CHECK(pool.capacity() < 4 * threads * each);
  }
}

TEST_CASE_TEMPLATE("growth on a source that is not safe for several threads", Pool, SHARED_POOLS) {
  static std::vector<std::byte> buffer(std::size_t{4} << 20);
  const std::size_t rounds = stress::scaled(200);
  for (std::size_t round = 0; round < rounds; ++round) {
    constexpr std::size_t each = 1000;
    heapwise::static_blocks memory{buffer.data(), buffer.size()};
    heapwise::fake_blocks source{memory};
    {
      Pool pool{pool_options{.block_size = 64, .block_count = 64, .growth = growth::geometric},
                source};
      std::array<std::vector<void*>, 2> taken;
      stress::on_threads(taken.size(), [&](std::size_t me) {
        for (std::size_t i = 0; i < each; ++i) {
          if (void* const block = pool.try_allocate()) taken[me].push_back(block);
        }
      });
      std::vector<void*> all = taken[0];
      all.insert(all.end(), taken[1].begin(), taken[1].end());
      REQUIRE(all.size() == taken.size() * each);
      REQUIRE(stress::are_distinct(all));
      REQUIRE(source.requests() == source.pieces_out()); // no chunk that nobody uses
    }
    REQUIRE(source.pieces_out() == 0);
  }
}

// A pool of so few blocks that two threads grow it at once, the second from the first's chunk.
TEST_CASE("a lock-free pool on a bounded source is exhausted only if the source is") {
  const std::size_t rounds = stress::scaled(300);
  for (std::size_t round = 0; round < rounds; ++round) {
    heapwise::fake_blocks source;
    heapwise::pool<heapwise::lock_free> pool{
        pool_options{.block_size = 64, .block_count = 8, .growth = growth::geometric}, source};
    source.fail_after(1); // one more chunk, of 8 blocks
    std::atomic<std::size_t> taken{0};
    stress::on_threads(4, [&](std::size_t) {
      for (int i = 0; i < 4; ++i) taken += pool.try_allocate() != nullptr ? 1u : 0u;
    });
    REQUIRE(taken == 16);
  }
}

} // namespace
