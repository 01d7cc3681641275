#include <heapwise/hybrid/detail/best_fit.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::fake_blocks;
using namespace heapwise::detail::hybrids;

struct fixture {
  fake_blocks source;
  chunk_map chunks{source};
  best_fit heap{chunks};
};

TEST_CASE("the smallest free piece that is large enough is taken") {
  fixture f;
  std::vector<void*> blocks;
  for (const std::size_t size : {9000U, 100U, 5000U, 100U, 7000U, 100U}) {
    blocks.push_back(f.heap.allocate(size, 1));
  }
  f.heap.deallocate(blocks[0]);
  f.heap.deallocate(blocks[2]);
  f.heap.deallocate(blocks[4]);
  CHECK(f.heap.allocate(6000, 1) == blocks[4]);
  CHECK(f.heap.allocate(4500, 1) == blocks[2]);
  CHECK(f.heap.allocate(4500, 1) == blocks[0]);
}

TEST_CASE("of equals the first in memory is taken") {
  fixture f;
  std::vector<void*> blocks;
  for (int i = 0; i < 10; ++i) blocks.push_back(f.heap.allocate(5000, 1));
  for (const std::size_t i : {6U, 2U, 8U}) f.heap.deallocate(blocks[i]);
  CHECK(f.heap.allocate(5000, 1) == blocks[2]);
  CHECK(f.heap.allocate(5000, 1) == blocks[6]);
  CHECK(f.heap.allocate(5000, 1) == blocks[8]);
}

TEST_CASE("neighbours grow together, whichever is freed first") {
  for (const auto& order : {std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2},
                            std::array{1, 2, 0}, std::array{2, 0, 1}, std::array{2, 1, 0}}) {
    fixture f;
    std::array<void*, 3> blocks{};
    for (void*& each : blocks) each = f.heap.allocate(5000, 1);
    void* const guard = f.heap.allocate(5000, 1);
    for (const int each : order) REQUIRE(f.heap.deallocate(blocks[static_cast<std::size_t>(each)]));
    CHECK(f.heap.allocate(3 * 5000, 1) == blocks[0]);
    CHECK(f.heap.deallocate(guard));
  }
}

TEST_CASE("an empty region is kept, the second goes back") {
  fixture f;
  std::vector<void*> blocks;
  for (int i = 0; i < 300; ++i) blocks.push_back(f.heap.allocate(10'000, 1));
  REQUIRE(f.source.pieces_out() == 3);
  for (void* const each : blocks) REQUIRE(f.heap.deallocate(each));
  CHECK(f.source.pieces_out() == 1);
  for (int i = 0; i < 100; ++i) {
    REQUIRE(f.heap.deallocate(f.heap.allocate(10'000, 1)));
    REQUIRE(f.source.pieces_out() == 1);
  }
}

TEST_CASE("a large block is a chunk of its own and goes back at once") {
  fixture f;
  for (const std::size_t size : {std::size_t{600'000}, chunk_bytes, 5 * chunk_bytes + 1}) {
    for (const std::size_t alignment : {1U, 64U, 4096U}) {
      void* const block = f.heap.allocate(size, alignment);
      REQUIRE(block != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
      CHECK(f.heap.usable_bytes(block) >= size);
      std::memset(block, 1, f.heap.usable_bytes(block));
      CHECK_FALSE(f.heap.deallocate(static_cast<std::byte*>(block) + 64));
      CHECK(f.heap.deallocate(block));
      CHECK(f.source.pieces_out() == 0);
    }
  }
}

TEST_CASE("an address that is not a block in use is refused") {
  fixture f;
  auto* const block = static_cast<std::byte*>(f.heap.allocate(6000, 1));
  // A tag that looks right, inside a block.
  const std::size_t forged[2] = {64, 128};
  std::memcpy(block + 64 - sizeof forged, forged, sizeof forged);
  for (const std::ptrdiff_t off : {1, 16, 48, 64, -64, -16}) {
    CHECK_FALSE(f.heap.deallocate(block + off));
    CHECK(f.heap.usable_bytes(block + off) == 0);
  }
  CHECK(f.heap.deallocate(block));
  CHECK_FALSE(f.heap.deallocate(block));
}

TEST_CASE("sizes that cannot be are refused") {
  fixture f;
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 4096, SIZE_MAX / 2, SIZE_MAX / 2 + 1}) {
    CHECK(f.heap.allocate(size, 1) == nullptr);
    CHECK(f.heap.allocate(size, 4096) == nullptr);
  }
  CHECK(f.heap.allocate(100, 8192) == nullptr);
  CHECK(f.source.pieces_out() == 0);
}

// A model that knows which bytes are out: no two blocks overlap, each keeps what was written to it,
// and in the end all free memory is one piece again.
TEST_CASE("many random blocks against a model") {
  for (const unsigned seed : {1U, 2U, 3U}) {
    fixture f;
    std::mt19937 draw{seed};
    std::map<std::byte*, std::size_t> out;
    for (int step = 0; step < 20'000; ++step) {
      if (out.empty() || draw() % 100 < 52) {
        const std::size_t size = draw() % 16 == 0 ? draw() % 400'000 : draw() % 9000;
        const std::size_t alignment = std::size_t{1} << (draw() % 13);
        auto* const block = static_cast<std::byte*>(f.heap.allocate(size, alignment));
        REQUIRE(block != nullptr);
        REQUIRE(reinterpret_cast<std::uintptr_t>(block) % std::max<std::size_t>(alignment, 64) ==
                0);
        const std::size_t usable = f.heap.usable_bytes(block);
        REQUIRE(usable >= size);
        const auto next = out.lower_bound(block);
        REQUIRE((next == out.end() || block + usable <= next->first));
        REQUIRE((next == out.begin() || std::prev(next)->first + std::prev(next)->second <= block));
        std::memset(block, static_cast<int>(usable % 251), usable);
        out.emplace(block, usable);
      } else {
        auto position = out.begin();
        std::advance(position, draw() % std::min<std::size_t>(out.size(), 50));
        const auto want = static_cast<std::byte>(position->second % 251);
        REQUIRE(position->first[0] == want);
        REQUIRE(position->first[position->second - 1] == want);
        REQUIRE(f.heap.deallocate(position->first));
        out.erase(position);
      }
    }
    for (const auto& each : out) REQUIRE(f.heap.deallocate(each.first));
    CHECK(f.source.pieces_out() <= 2); // a region, and perhaps a larger table of chunks
    void* const whole = f.heap.allocate(chunk_bytes / 2 - 100, 1);
    CHECK(whole != nullptr);
    CHECK(f.source.pieces_out() <= 2);
  }
}

} // namespace
