// What every pool promises to one thread, whatever its policy, growth and checking.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <new>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"

namespace {

using contract::drain;
using heapwise::growth;
using heapwise::pool_options;

std::uintptr_t number_of(const void* address) { return reinterpret_cast<std::uintptr_t>(address); }

CONTRACT_TEST_CASE("every block is handed out once, then the pool is exhausted", S,
                   CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(40, 333)};
  const std::vector<void*> all = drain(blocks);
  CHECK(all.size() == 333);
  CHECK(blocks.capacity() == 333);
  CHECK(std::set<void*>{all.begin(), all.end()}.size() == 333);
  CHECK(blocks.try_allocate() == nullptr);
  CHECK_THROWS_AS(static_cast<void>(blocks.allocate()), std::bad_alloc);
  CHECK(blocks.deallocate(all[100]));
  CHECK(blocks.allocate() == all[100]);
  CHECK(blocks.try_allocate() == nullptr);
}

CONTRACT_TEST_CASE("blocks do not overlap and keep what is written to them", S, CONTRACT_SETTINGS) {
  constexpr std::size_t size = 24;
  typename S::pool_type blocks{S::options(size, 500)};
  std::vector<std::byte*> mine;
  std::uint8_t seed = 0;
  const auto fill = [&](std::byte* block, std::size_t index) {
    std::memset(block, static_cast<int>(index * 7 % 251), size);
  };
  // Every third block goes back and comes again, so that growth happens with some of all kinds.
  for (std::size_t i = 0; i < 500; ++i) {
    mine.push_back(static_cast<std::byte*>(blocks.allocate()));
    fill(mine.back(), i);
    if (++seed % 3 == 0) {
      blocks.deallocate(mine[i / 2]);
      mine[i / 2] = static_cast<std::byte*>(blocks.allocate());
      fill(mine[i / 2], i / 2);
    }
  }
  CHECK(blocks.chunk_count() == (S::how == growth::geometric ? 3 : 1));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    const auto wanted = static_cast<std::byte>(i * 7 % 251);
    CHECK(std::all_of(mine[i], mine[i] + size, [=](std::byte each) { return each == wanted; }));
    CHECK(blocks.deallocate(mine[i]));
  }
}

constexpr std::array<std::size_t, 15> sizes{1,  2,  3,  7,   8,    9,    17,   24,
                                            63, 64, 65, 100, 4095, 4097, 70000};

CONTRACT_TEST_CASE("any size, any alignment that is a power of two", S, CONTRACT_SETTINGS) {
  for (std::size_t alignment = 1; alignment <= 65536; alignment *= 2) {
    for (const std::size_t size : sizes) {
      typename S::pool_type blocks{S::options(size, 20, alignment)};
      REQUIRE(blocks.block_size() == size);
      REQUIRE(blocks.alignment() >= alignment);
      REQUIRE(blocks.stride_bytes() >= size);
      std::vector<void*> all = drain(blocks);
      REQUIRE(all.size() == 20);
      for (void* const block : all) {
        REQUIRE(number_of(block) % alignment == 0);
        std::memset(block, 0x5A, size);
      }
      for (void* const block : all) REQUIRE(blocks.deallocate(block));
      REQUIRE(drain(blocks).size() == 20);
    }
  }
}

CONTRACT_TEST_CASE("alignment 0 is natural", S, CONTRACT_SETTINGS) {
  const auto alignment_for = [](std::size_t size) {
    return typename S::pool_type{S::options(size, 4)}.alignment();
  };
  CHECK(alignment_for(1) == alignof(void*));
  CHECK(alignment_for(24) == 8);
  CHECK(alignment_for(48) == 16);
  CHECK(alignment_for(64) == alignof(std::max_align_t));
}

CONTRACT_TEST_CASE("fresh blocks come in address order", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(32, 400)};
  const std::vector<void*> all = drain(blocks);
  std::size_t breaks = 0;
  for (std::size_t i = 1; i < all.size(); ++i) {
    if (number_of(all[i]) != number_of(all[i - 1]) + blocks.stride_bytes()) ++breaks;
  }
  CHECK(breaks <= blocks.chunk_count() - 1); // adjacent chunks may happen to touch
}

CONTRACT_TEST_CASE("a free block is reused first if it was freed last", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(64, 300)};
  std::vector<void*> all = drain(blocks, 200);
  for (void* const block : all) blocks.deallocate(block);
  std::reverse(all.begin(), all.end());
  // A cache keeps the order only within the batches that it exchanges.
  constexpr bool caches = std::is_same_v<typename S::policy, heapwise::thread_cached>;
  const std::vector<void*> again = drain(blocks, caches ? 2 : 200);
  CHECK(std::equal(again.begin(), again.end(), all.begin()));
}

CONTRACT_TEST_CASE("pointers that are not a block of the pool are refused and do no harm", S,
                   CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(64, 4000)};
  typename S::pool_type others{S::options(64, 4000)};
  const std::vector<void*> mine = drain(blocks, 1500);
  const std::vector<void*> foreign = drain(others, 1500);
  int on_stack = 0;
  const auto on_heap = std::make_unique<int>();
  static int in_data = 0;
  std::vector<void*> wrong{&on_stack,
                           on_heap.get(),
                           &in_data,
                           foreign.front(),
                           foreign.back(),
                           &blocks,
                           reinterpret_cast<void*>(~std::uintptr_t{0}),
                           reinterpret_cast<void*>(std::uintptr_t{8})};
  for (void* const block : mine) {
    auto* const bytes = static_cast<std::byte*>(block);
    for (const int offset : {1, 2, 7, 8, 16, 32, 63}) wrong.push_back(bytes + offset);
  }
  auto* const first = static_cast<std::byte*>(mine.front());
  auto* const last = static_cast<std::byte*>(mine.back());
  wrong.push_back(first - blocks.stride_bytes());
  // Never carved: thread_cached sets some blocks aside for the thread, but not that many.
  for (std::size_t i = 200; i < 220; ++i) wrong.push_back(last + i * blocks.stride_bytes());
  for (void* const address : wrong) {
    REQUIRE_FALSE(blocks.contains(address));
    if (S::refuses_foreign && !S::checking::enabled) REQUIRE_FALSE(blocks.deallocate(address));
  }
  CHECK_FALSE(blocks.contains(nullptr));
  CHECK(blocks.deallocate(nullptr));
  for (void* const block : mine) {
    REQUIRE(blocks.contains(block));
    REQUIRE(blocks.deallocate(block));
  }
  const std::vector<void*> all = drain(blocks);
  CHECK(all.size() == 4000);
  CHECK(std::set<void*>{all.begin(), all.end()}.size() == 4000);
}

CONTRACT_TEST_CASE("a pool without a limit grows by doubling", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{
      {.block_size = 16, .block_count = 10, .growth = S::how, .max_block_count = 0}};
  const std::vector<void*> all = drain(blocks, 5000);
  if (S::how == growth::fixed) {
    CHECK(all.size() == 10);
  } else {
    CHECK(all.size() == 5000);
    CHECK(blocks.capacity() == 5120);
    CHECK(blocks.chunk_count() == 10);
  }
  CHECK(std::set<void*>{all.begin(), all.end()}.size() == all.size());
}

/// Bytes of physical memory that this process holds.
std::size_t resident_bytes() {
  std::size_t total_pages = 0;
  std::size_t resident_pages = 0;
  std::ifstream{"/proc/self/statm"} >> total_pages >> resident_pages;
  return resident_pages * 4096;
}

CONTRACT_TEST_CASE("creating a huge pool touches nothing", S, CONTRACT_SETTINGS) {
  const std::size_t before = resident_bytes();
  REQUIRE(before > 0);
  typename S::pool_type blocks{
      {.block_size = 4096, .block_count = std::size_t{1} << 19, .growth = S::how}}; // 2 GiB
  for (int i = 0; i < 3; ++i) std::memset(blocks.allocate(), 1, 4096);
  CHECK(blocks.reserved_bytes() >= std::size_t{1} << 31);
  CHECK(resident_bytes() < before + (std::size_t{4} << 20)); // the system may have taken some back
  // The measure moves: what is touched does count.
  for (int i = 0; i < 4000; ++i) std::memset(blocks.allocate(), 1, 4096);
  CHECK(resident_bytes() > before + (std::size_t{8} << 20));
}

CONTRACT_TEST_CASE("nonsense is refused at creation", S, CONTRACT_SETTINGS) {
  using pool_type = typename S::pool_type;
  constexpr std::size_t huge = SIZE_MAX;
  const auto make = [](std::size_t size, std::size_t count, std::size_t alignment,
                       std::size_t most = 0) {
    pool_type{{.block_size = size,
               .block_count = count,
               .alignment = alignment,
               .growth = S::how,
               .max_block_count = most}};
  };
  struct row {
    std::size_t size, count, alignment;
  };
  for (const row& each : {row{0, 1, 0}, row{1, 0, 0}, row{0, 0, 0}, row{8, 8, 3}, row{8, 8, 24},
                          row{8, 8, huge}, row{8, 8, 6}}) {
    CAPTURE(each.size);
    CAPTURE(each.alignment);
    CHECK_THROWS_AS(make(each.size, each.count, each.alignment), std::invalid_argument);
  }
  for (const row& each :
       {row{huge, 1, 0}, row{1, huge, 0}, row{huge, huge, 0}, row{huge / 2, 3, 0},
        row{std::size_t{1} << 32, std::size_t{1} << 32, 0}, row{8, std::size_t{1} << 32, 0},
        row{huge - 7, 1, 8}, row{8, 1, (huge >> 1) + 1}, row{1, 100, std::size_t{1} << 60},
        row{(huge >> 2) + 1, 4, 0}}) {
    CAPTURE(each.size);
    CAPTURE(each.count);
    CHECK_THROWS_AS(make(each.size, each.count, each.alignment), std::length_error);
  }
  CHECK_THROWS_AS(make(std::size_t{1} << 60, 1, 0), std::bad_alloc); // sane, but too much to have
  CHECK_THROWS_AS(make(8, 8, 0, 7), std::invalid_argument); // a limit below the first chunk
  CHECK_NOTHROW(make(1, 1, 1));
  CHECK_NOTHROW(make(1, 1, 0, 1));
}

} // namespace
