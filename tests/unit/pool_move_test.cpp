// Pools that change their place: those of one thread may, the others may not.
#include <heapwise/typed_pool.hpp>

#include <array>
#include <cstddef>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/arena.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>

namespace {

using heapwise::fake_blocks;
using heapwise::growth;
using heapwise::pool;
using heapwise::pool_options;

static_assert(std::is_nothrow_move_constructible_v<pool<>>);
static_assert(std::is_nothrow_move_assignable_v<pool<>>);
static_assert(!std::is_copy_constructible_v<pool<>>);
static_assert(!std::is_copy_assignable_v<pool<>>);
static_assert(std::is_nothrow_move_constructible_v<heapwise::typed_pool<int>>);
static_assert(!std::is_move_constructible_v<pool<heapwise::locked>>);
static_assert(!std::is_move_constructible_v<pool<heapwise::lock_free>>);
static_assert(!std::is_move_constructible_v<pool<heapwise::thread_cached>>);
static_assert(std::is_nothrow_move_constructible_v<heapwise::arena>);
static_assert(std::is_nothrow_move_assignable_v<heapwise::arena>);
static_assert(!std::is_copy_constructible_v<heapwise::arena>);

TEST_CASE_TEMPLATE("a pool that is moved keeps its blocks, free and live", Pool, pool<>,
                   pool<heapwise::unsynchronized, heapwise::checked>,
                   pool<heapwise::unsynchronized, heapwise::trusting>) {
  fake_blocks source;
  {
    Pool first{{.block_size = 64, .block_count = 10, .growth = growth::geometric}, source};
    std::vector<void*> live;
    for (int i = 0; i < 25; ++i) live.push_back(first.allocate());
    for (int i = 0; i < 5; ++i) {
      first.deallocate(live.back());
      live.pop_back();
    }
    Pool second{std::move(first)};
    CHECK(second.capacity() == 40);
    for (void* const each : live) CHECK(second.contains(each));
    std::set<void*> all{live.begin(), live.end()};
    for (int i = 0; i < 20; ++i) CHECK(all.insert(second.allocate()).second);
    for (void* const each : all) CHECK(second.deallocate(each));
    Pool third{{.block_size = 8, .block_count = 1000}, source};
    const std::size_t pieces = source.pieces_out();
    third = std::move(second);
    CHECK(source.pieces_out() == pieces - 1); // its own memory went back
    CHECK(third.block_size() == 64);
    CHECK(third.deallocate(third.allocate()));
    first = std::move(third);
    CHECK(first.capacity() == 40);
  }
  CHECK(source.pieces_out() == 0);
}

TEST_CASE("pools in a vector, swapped, and constructed again in place") {
  std::vector<pool<>> pools;
  std::vector<void*> blocks;
  for (std::size_t i = 1; i <= 50; ++i) {
    pools.emplace_back(pool_options{.block_size = 8 * i, .block_count = 4});
    blocks.push_back(pools.back().allocate());
  }
  for (std::size_t i = 0; i < 50; ++i) CHECK(pools[i].contains(blocks[i]));
  std::swap(pools[0], pools[49]);
  CHECK(pools[0].deallocate(blocks[49]));
  CHECK(pools[49].deallocate(blocks[0]));
  pools[0] = pool<>{{.block_size = 16, .block_count = 2}};
  CHECK(pools[0].capacity() == 2);
}

TEST_CASE("an arena that is moved keeps what was allocated") {
  fake_blocks source;
  {
    heapwise::arena first{source, 4096};
    auto* const number = first.create<int>(7);
    heapwise::arena second{std::move(first)};
    CHECK(*number == 7);
    CHECK(second.reserved_bytes() == 4096);
    CHECK(first.reserved_bytes() == 0);
    CHECK(first.try_allocate(16) != nullptr); // empty, and as good as new
    const std::size_t pieces = source.pieces_out();
    first = std::move(second);
    CHECK(source.pieces_out() == pieces - 1);
    CHECK(*number == 7);
    CHECK(first.create<int>(8) == number + 1);
  }
  CHECK(source.pieces_out() == 0);
}

} // namespace
