// How pools grow: by doubling, by steps, and as their user says.
#include <new>
#include <set>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"

namespace {

using contract::drain;
using heapwise::fake_blocks;
using heapwise::growth;
using heapwise::pool;

#define POLICIES \
  heapwise::unsynchronized, heapwise::locked, heapwise::lock_free, heapwise::thread_cached

TEST_CASE_TEMPLATE("linear growth adds the same number of blocks each time", Policy, POLICIES) {
  pool<Policy> blocks{
      {.block_size = 32, .block_count = 100, .growth = growth::linear, .growth_step = 50}};
  std::vector<void*> all = drain(blocks, 101);
  CHECK(blocks.capacity() == 150);
  const std::vector<void*> rest = drain(blocks, 399);
  all.insert(all.end(), rest.begin(), rest.end());
  CHECK(all.size() == 500);
  CHECK(blocks.capacity() == 500);
  CHECK(blocks.chunk_count() == 9);
  CHECK(std::set<void*>{all.begin(), all.end()}.size() == 500);
  for (void* const each : all) CHECK(blocks.deallocate(each));
  pool<Policy> usual{
      {.block_size = 32, .block_count = 100, .growth = growth::linear, .max_block_count = 250}};
  CHECK(drain(usual).size() == 250); // a step of block_count, up to the limit
  CHECK(usual.chunk_count() == 3);
}

/// One and a half times the capacity, three times.
struct plan {
  int left = 3;
  static std::size_t next(std::size_t capacity, void* context) noexcept {
    return static_cast<plan*>(context)->left-- > 0 ? capacity / 2 : 0;
  }
};

TEST_CASE_TEMPLATE("the user says how many blocks the next chunk has", Policy, POLICIES) {
  plan mine;
  pool<Policy> blocks{{.block_size = 32,
                       .block_count = 80,
                       .growth = growth::custom,
                       .next_blocks = plan::next,
                       .growth_context = &mine}};
  CHECK(drain(blocks).size() == 270); // 80, 120, 180, 270
  CHECK(blocks.chunk_count() == 4);
  CHECK_THROWS_AS(static_cast<void>(blocks.allocate()), std::bad_alloc);
  mine.left = 1;
  CHECK(drain(blocks).size() == 135);
  using make = pool<Policy>;
  CHECK_THROWS_AS((make{{.block_size = 8, .block_count = 8, .growth = growth::custom}}),
                  std::invalid_argument);
}

TEST_CASE_TEMPLATE("a source that refuses a large step is asked for less", Policy, POLICIES) {
  alignas(64) static std::array<std::byte, 300'000> buffer;
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  pool<Policy> blocks{
      {.block_size = 64, .block_count = 1000, .growth = growth::linear, .growth_step = 1'000'000},
      source};
  CHECK(drain(blocks).size() > 4000);
}

} // namespace
