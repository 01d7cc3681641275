#include <heapwise/hybrid/detail/chunk_map.hpp>

#include <cstddef>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::fake_blocks;
using namespace heapwise::detail::hybrids;

constexpr std::size_t class_of_512 = routing::slab_count + 4;

TEST_CASE("the class of a block is known by its first byte, and by no other") {
  fake_blocks source;
  chunk_map map{source};
  slice_cutter cutter{map};
  block_chain blocks = cutter.cut(class_of_512);
  REQUIRE(blocks.count == slice_bytes / 512);
  auto* const first = static_cast<std::byte*>(blocks.head);
  for (std::size_t at = 0; at < slice_bytes; ++at) {
    REQUIRE(map.class_of(first + at) == (at % 512 == 0 ? class_of_512 : routing::none));
  }
  CHECK(map.class_of(first + slice_bytes) == routing::none);
  CHECK(map.class_of(first - slice_bytes) == routing::none);
  CHECK(map.class_of(first - chunk_bytes) == routing::none);
  CHECK(map.class_of(first + chunk_bytes) == routing::none);
  CHECK(map.class_of(nullptr) == routing::none);
  CHECK(map.class_of(&map) == routing::none);
}

TEST_CASE("a slice is cut in the order of addresses, and a chunk is cut to its end") {
  fake_blocks source;
  chunk_map map{source};
  slice_cutter cutter{map};
  std::set<void*> seen;
  for (std::size_t slice = 1; slice < slices_per_chunk; ++slice) {
    const block_chain blocks = cutter.cut(0);
    std::byte* before = nullptr;
    for (void* each = blocks.head; each != nullptr; each = *static_cast<void**>(each)) {
      if (before != nullptr) REQUIRE(static_cast<std::byte*>(each) - before == 32);
      before = static_cast<std::byte*>(each);
      REQUIRE(seen.insert(each).second);
    }
    CHECK(blocks.tail == before);
  }
  CHECK(source.pieces_out() == 1);
  CHECK(cutter.cut(0).count != 0);
  CHECK(source.pieces_out() == 2);
}

TEST_CASE("chunks come and go, and the table grows with them") {
  fake_blocks source;
  {
    chunk_map map{source};
    std::vector<void*> taken;
    for (std::size_t round = 0; round < 6; ++round) {
      for (std::size_t i = 0; i < 60; ++i) {
        void* const base = map.take(chunk_kind::region, chunk_bytes);
        REQUIRE(base != nullptr);
        taken.push_back(base);
      }
      for (std::size_t i = 0; i < 30; ++i) {
        const std::size_t index = (i * 7919 + round) % taken.size();
        map.give_back(taken[index], chunk_bytes);
        REQUIRE(map.find(taken[index]).kind == chunk_kind::none);
        taken[index] = taken.back();
        taken.pop_back();
      }
      for (void* const base : taken) {
        const auto last = map.find(static_cast<std::byte*>(base) + chunk_bytes - 1);
        REQUIRE(last.base == base);
        REQUIRE(last.kind == chunk_kind::region);
      }
    }
    CHECK(map.reserved_bytes() == source.bytes_out());
    for (void* const base : taken) map.give_back(base, chunk_bytes);
  }
  CHECK(source.pieces_out() == 0);
}

TEST_CASE("one chunk that comes and goes for ever needs no table but the first") {
  fake_blocks source;
  chunk_map map{source};
  for (int i = 0; i < 1000; ++i) {
    void* const base = map.take(chunk_kind::large, chunk_bytes);
    REQUIRE(base != nullptr);
    map.give_back(base, chunk_bytes);
  }
  CHECK(source.pieces_out() == 0);
}

TEST_CASE("chunks that come and go at ever new places need no table but the first") {
  constexpr std::size_t room = 300 * chunk_bytes; // of addresses; hardly a page is touched
  void* const memory = heapwise::os_blocks().allocate(room, chunk_bytes);
  REQUIRE(memory != nullptr);
  {
    heapwise::static_blocks source{memory, room};
    chunk_map map{source};
    void* before = map.take(chunk_kind::large, chunk_bytes);
    for (int i = 0; i < 250; ++i) {
      void* const next = map.take(chunk_kind::large, chunk_bytes);
      REQUIRE(next != nullptr);
      map.give_back(before, chunk_bytes);
      before = next;
    }
    CHECK(map.reserved_bytes() == chunk_bytes);
  }
  heapwise::os_blocks().deallocate(memory, room, chunk_bytes);
}

TEST_CASE("after a reset the same chunks are cut again") {
  fake_blocks source;
  chunk_map map{source};
  slice_cutter cutter{map};
  for (std::size_t i = 0; i < 3 * slices_per_chunk; ++i) REQUIRE(cutter.cut(0).head != nullptr);
  const std::size_t before = source.bytes_out();
  map.reset();
  cutter.reset();
  for (std::size_t i = 0; i < 3 * slices_per_chunk; ++i) REQUIRE(cutter.cut(1).head != nullptr);
  CHECK(source.bytes_out() == before);
}

TEST_CASE("without memory there is an empty chain, and nothing is lost") {
  fake_blocks source;
  chunk_map map{source};
  slice_cutter cutter{map};
  source.fail_after(0);
  CHECK(cutter.cut(0).head == nullptr);
  CHECK(map.take(chunk_kind::region, chunk_bytes) == nullptr);
  source.fail_after(1);
  CHECK(cutter.cut(0).head != nullptr);
}

} // namespace
