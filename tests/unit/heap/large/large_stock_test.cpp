#include "heap/large/large_stock.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/base/shards.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/central/bins.hpp"
#include "heap/front/uncommon.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t size = slice_bytes;

/// Effects: as on a machine with many processors, from now on.
void start_with_shards() {
  start_without_clock();
  the_options.shards = 4;
  choose_shards();
  use_shards(4);
}

TEST_CASE("with one shard everything goes to the space at once") {
  start_without_clock();
  the_options.shards = 1;
  choose_shards();
  REQUIRE(shard_count() == 1);
  const std::size_t used = the_space.used_bytes();
  heapwise_free(heapwise_malloc(size));
  CHECK(stocked_large_bytes() == 0);
  CHECK(the_space.used_bytes() == used);
}

TEST_CASE("a block that was freed serves the next request of its length, and no other") {
  start_with_shards();
  free_what_waits();
  std::vector<void*> blocks;
  for (int i = 0; i < 4; ++i) blocks.push_back(heapwise_malloc(size));
  const std::set<void*> freed(blocks.begin(), blocks.end());
  const std::size_t used = the_space.used_bytes();
  for (void* each : blocks) heapwise_free(each);
  CHECK(stocked_large_bytes() == 4 * size);
  CHECK(the_space.used_bytes() == used);
  void* const longer = heapwise_malloc(2 * size);
  CHECK(stocked_large_bytes() == 4 * size);
  for (void*& each : blocks) {
    each = heapwise_malloc(size - 100);
    CHECK(freed.count(each) == 1);
  }
  for (void* each : blocks) heapwise_free(each);
  heapwise_free(longer);
  free_what_waits();
  CHECK(stocked_large_bytes() == 0);
}

TEST_CASE("the stock is limited, and goes to the space if nobody needs it") {
  start_with_shards();
  free_what_waits();
  const std::size_t used = the_space.used_bytes();
  std::vector<void*> blocks;
  for (int i = 0; i < 1000; ++i) blocks.push_back(heapwise_malloc(size));
  for (void* each : blocks) heapwise_free(each);
  CHECK(stocked_large_bytes() <= shard_count() * 32 * slice_bytes);
  CHECK(the_space.used_bytes() == used + stocked_large_bytes());
  trim_large_stocks(); // sees what is there
  trim_large_stocks();
  CHECK(stocked_large_bytes() == 0);
  CHECK(the_space.used_bytes() == used);
}

TEST_CASE("calloc of a block that was used before is all zero") {
  start_with_shards();
  for (int i = 0; i < 20; ++i) {
    auto* const dirty = static_cast<unsigned char*>(heapwise_malloc(size));
    std::memset(dirty, 0xff, size);
    heapwise_free(dirty);
    auto* const zeroed = static_cast<unsigned char*>(heapwise_calloc(1, size));
    CHECK(std::all_of(zeroed, zeroed + size, [](unsigned char each) { return each == 0; }));
    heapwise_free(zeroed);
  }
}

TEST_CASE("a block that waits in a stock cannot be freed again") {
  start_with_shards();
  const contract::ending twice = contract::in_child([] {
    void* const block = heapwise_malloc(size);
    heapwise_free(block);
    heapwise_free(block);
  });
  CHECK(twice.signal == SIGABRT);
}

TEST_CASE("the sums over all shards are exact, whichever thread frees and resizes") {
  start_with_shards();
  const large_figures before = count_large();
  constexpr std::size_t threads = 4;
  std::vector<std::vector<void*>> blocks(threads);
  stress::on_threads(threads, [&](std::size_t me) {
    for (std::size_t i = 0; i < 50; ++i) {
      void* const block = heapwise_malloc((i % 5 + 1) * size);
      blocks[me].push_back(heapwise_realloc(block, (i % 3 + 1) * size));
    }
  });
  const large_figures most = count_large();
  CHECK(most.blocks == before.blocks + threads * 50);
  CHECK(most.bytes == before.bytes + threads * (17 * 1 + 17 * 2 + 16 * 3) * size);
  stress::on_threads(threads, [&](std::size_t me) {
    for (void* each : blocks[(me + 1) % threads]) heapwise_free(each);
  });
  CHECK(count_large().blocks == before.blocks);
  CHECK(count_large().bytes == before.bytes);
}

} // namespace
