// What every pool does with the memory that it is given: all of it counted, used and given back.
#include <algorithm>
#include <array>
#include <initializer_list>
#include <memory>
#include <new>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"

namespace {

using contract::drain;
using heapwise::fake_blocks;
using heapwise::growth;
using heapwise::static_blocks;

constexpr std::size_t without_limit = static_cast<std::size_t>(-1);

/// The bytes of a pool's records that lie behind the blocks of its chunks.
template <class Pool>
std::size_t record_bytes(const Pool& blocks) {
  using heapwise::detail::chunks;
  const std::size_t count = blocks.chunk_count();
  const std::size_t records = count == 1 ? 1 : std::max(count, chunks::early_chunks);
  return sizeof(chunks) + records * sizeof(heapwise::detail::chunk);
}

CONTRACT_TEST_CASE("all memory goes back to the source", S, CONTRACT_SETTINGS) {
  fake_blocks source;
  {
    typename S::pool_type blocks{S::options(40, 3000), source};
    const std::vector<void*> all = drain(blocks);
    REQUIRE(all.size() == 3000);
    CHECK(source.pieces_out() >= blocks.chunk_count());
    for (std::size_t i = 0; i < all.size(); i += 2) blocks.deallocate(all[i]);
  }
  CHECK(source.pieces_out() == 0);
  CHECK(source.bytes_out() == 0);
}

CONTRACT_TEST_CASE("a source that fails at any request: documented errors, nothing lost", S,
                   CONTRACT_SETTINGS) {
  fake_blocks counting;
  {
    typename S::pool_type blocks{S::options(40, 640), counting};
    REQUIRE(drain(blocks).size() == 640);
  }
  const std::size_t requests = counting.requests();
  REQUIRE(requests >= (S::how == growth::geometric ? 3 : 1));
  for (std::size_t successes = 0; successes <= requests; ++successes) {
    CAPTURE(successes);
    fake_blocks source;
    source.fail_after(successes);
    if (successes == 0) {
      CHECK_THROWS_AS((typename S::pool_type{S::options(40, 640), source}), std::bad_alloc);
      CHECK(source.pieces_out() == 0);
      continue;
    }
    typename S::pool_type blocks{S::options(40, 640), source};
    std::vector<void*> mine = drain(blocks);
    CHECK(mine.size() == blocks.capacity());
    CHECK(blocks.try_allocate() == nullptr);
    if (blocks.capacity() < 640) {
      CHECK_THROWS_AS(static_cast<void>(blocks.allocate()), std::bad_alloc);
    }
    CHECK(blocks.deallocate(mine.back()));
    CHECK(blocks.allocate() == mine.back());
    source.fail_after(without_limit);
    const std::vector<void*> later = drain(blocks);
    mine.insert(mine.end(), later.begin(), later.end());
    CHECK(mine.size() == 640);
    CHECK(std::set<void*>{mine.begin(), mine.end()}.size() == 640);
    for (void* const block : mine) CHECK(blocks.deallocate(block));
    CHECK(drain(blocks).size() == 640);
  }
}

CONTRACT_TEST_CASE("no metadata per block: a buffer of just the blocks and a few records will do",
                   S, CONTRACT_SETTINGS) {
  constexpr std::size_t count = 1000;
  const heapwise::pool_options options{.block_size = 64, .block_count = count, .growth = S::how};
  const std::size_t stride = typename S::pool_type{options}.stride_bytes();
  CHECK(stride == (S::checking::enabled ? 64 + 16 : 64)); // a guard word, then the alignment
  using heapwise::detail::chunks;
  const std::size_t records = S::how == growth::fixed ? 1 : chunks::early_chunks;
  const std::size_t least =
      count * stride + sizeof(chunks) + records * sizeof(heapwise::detail::chunk) + alignof(chunks);
  alignas(64) static std::array<std::byte, 100'000> buffer;
  REQUIRE(least <= buffer.size());
  static_blocks exact{buffer.data(), least};
  {
    typename S::pool_type blocks{options, exact};
    CHECK(exact.remaining_bytes() == 0);
    const std::vector<void*> all = drain(blocks);
    CHECK(all.size() == count);
    for (void* const block : all) {
      CHECK(block >= buffer.data());
      CHECK(block < buffer.data() + least);
    }
    for (void* const block : all) CHECK(blocks.deallocate(block));
    CHECK(drain(blocks).size() == count);
  }
  CHECK(exact.remaining_bytes() == least);
  static_blocks scarce{buffer.data(), least - 1};
  CHECK_THROWS_AS((typename S::pool_type{options, scarce}), std::bad_alloc);
}

CONTRACT_TEST_CASE("the budget is what it says, and blocks do not add to it", S,
                   CONTRACT_SETTINGS) {
  using pool_type = typename S::pool_type;
  std::vector<std::size_t> budgets;
  for (const std::size_t count : std::initializer_list<std::size_t>{4000, 40'000, 400'000}) {
    fake_blocks source;
    auto blocks = std::make_unique<pool_type>(S::options(16, count), source);
    REQUIRE(drain(*blocks).size() == count);
    // All that came from the source is either a chunk or in the budget.
    const std::size_t beside_chunks = source.bytes_out() - blocks->reserved_bytes();
    CHECK(blocks->budget_bytes() == sizeof(pool_type) + record_bytes(*blocks) + beside_chunks);
    // A chunk is its blocks, its record, and less than a page of rounding.
    const std::size_t needed = blocks->capacity() * blocks->stride_bytes() + record_bytes(*blocks);
    CHECK(blocks->reserved_bytes() >= needed);
    CHECK(blocks->reserved_bytes() - needed <
          blocks->chunk_count() * (source.granularity_bytes() + alignof(heapwise::detail::chunks)));
    budgets.push_back(blocks->budget_bytes());
  }
  CHECK(budgets.front() == budgets.back());
  CHECK(budgets.front() < 8192);
}

} // namespace
