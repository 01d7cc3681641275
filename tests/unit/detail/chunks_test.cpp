#include <heapwise/detail/chunks.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::fake_blocks;
using heapwise::growth;
using heapwise::pool_options;
using heapwise::detail::chunk;
using heapwise::detail::chunks;
using heapwise::detail::geometry;

constexpr std::size_t least_stride = sizeof(void*);

struct destroy {
  void operator()(chunks* memory) const noexcept { chunks::destroy(memory); }
};
using chunks_ptr = std::unique_ptr<chunks, destroy>;

chunks_ptr make(const pool_options& options, fake_blocks& source) {
  return chunks_ptr{chunks::create(geometry::of(options, 0, least_stride), source)};
}

pool_options growing(std::size_t block_size, std::size_t first, std::size_t most = 0) {
  return {.block_size = block_size,
          .block_count = first,
          .alignment = 0,
          .growth = growth::geometric,
          .max_block_count = most};
}

TEST_CASE("the geometry of some options") {
  struct row {
    std::size_t block_size, alignment, guard_bytes, stride, aligned;
  };
  for (const row& each :
       {row{1, 0, 0, 8, 8}, row{8, 0, 0, 8, 8}, row{9, 0, 0, 16, 8}, row{24, 0, 0, 24, 8},
        row{64, 0, 0, 64, 16}, row{65, 64, 0, 128, 64}, row{64, 4096, 0, 4096, 4096},
        row{1, 0, 8, 16, 8}, row{8, 0, 8, 16, 8}, row{61, 0, 8, 72, 8}, row{64, 0, 8, 80, 16}}) {
    CAPTURE(each.block_size);
    CAPTURE(each.guard_bytes);
    const geometry shape = geometry::of(
        {.block_size = each.block_size, .block_count = 10, .alignment = each.alignment},
        each.guard_bytes, least_stride);
    CHECK(shape.stride_bytes == each.stride);
    CHECK(shape.alignment == each.aligned);
    CHECK(shape.first_blocks == 10);
    CHECK(shape.max_blocks == 10);
    CHECK(shape.divider.quotient(7 * each.stride) == 7);
  }
}

TEST_CASE("chunks double until the limit, the last one takes the rest") {
  fake_blocks source;
  const chunks_ptr pieces = make(growing(32, 10, 100), source);
  const std::vector<std::size_t> capacities{10, 20, 40, 80, 100};
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    CHECK(pieces->capacity() == capacities[i]);
    CHECK(pieces->count() == i + 1);
    CHECK(source.pieces_out() == i + 1);
    CHECK(pieces->reserved_bytes() == source.bytes_out());
    chunk* const grown = pieces->grow(pieces->newest());
    CHECK((grown == nullptr) == (i + 1 == capacities.size()));
  }
  CHECK(pieces->record_bytes() == sizeof(chunks) + chunks::early_chunks * sizeof(chunk));
}

TEST_CASE("blocks of early and of later chunks are found by address and by index") {
  fake_blocks source;
  constexpr std::size_t all = chunks::early_chunks + 4;
  const chunks_ptr pieces =
      make({.block_size = 32, .block_count = 3, .growth = heapwise::growth::linear}, source);
  const auto check_all = [&] {
    for (std::size_t index = 0; index < pieces->capacity(); ++index) {
      void* const block = pieces->address_of(index);
      CHECK(pieces->index_of(block) == index);
      CHECK(pieces->index_of(static_cast<std::byte*>(block) + 8) == chunks::no_index);
      CHECK(pieces->holding(index)->first_index == index / 3 * 3);
    }
    CHECK(pieces->holding(pieces->capacity()) == nullptr);
    CHECK(pieces->index_of(&source) == chunks::no_index);
  };
  for (std::size_t count = 2; count <= all; ++count) {
    REQUIRE(pieces->grow(pieces->newest()) != nullptr);
    CHECK(pieces->count() == count);
    check_all();
  }
  CHECK(pieces->record_bytes() == sizeof(chunks) + all * sizeof(chunk));
  pieces->trim(3 * (chunks::early_chunks - 1));
  CHECK(pieces->count() == chunks::early_chunks - 1);
  check_all();
  while (pieces->count() != all) REQUIRE(pieces->grow(pieces->newest()) != nullptr);
  check_all();
}

TEST_CASE("a thread that comes late to growth gets the chunk that another added") {
  fake_blocks source;
  const chunks_ptr pieces = make(growing(32, 10), source);
  chunk* const seen = pieces->newest();
  chunk* const grown = pieces->grow(seen);
  CHECK(grown != seen);
  CHECK(pieces->grow(seen) == grown);
  CHECK(pieces->count() == 2);
}

TEST_CASE("a source that has no more stops growth, for the time being") {
  fake_blocks source;
  const chunks_ptr pieces = make(growing(32, 10), source);
  source.fail_after(0);
  CHECK(pieces->grow(pieces->newest()) == nullptr);
  CHECK(pieces->capacity() == 10);
  source.fail_after(1);
  CHECK(pieces->grow(pieces->newest()) != nullptr);
}

TEST_CASE("a source that has no room for a doubled chunk gives smaller ones, to about a page") {
  static std::vector<std::byte> buffer(std::size_t{1} << 20);
  heapwise::static_blocks memory{buffer.data(), buffer.size()};
  fake_blocks source{memory};
  const chunks_ptr pieces = make(growing(64, 5000), source);
  CHECK(pieces->grow(pieces->newest())->blocks == 5000);
  CHECK(pieces->grow(pieces->newest())->blocks == 5000);
  while (pieces->grow(pieces->newest()) != nullptr) {
  }
  const std::size_t page_blocks = 65'536 / 64; // of the largest pages
  CHECK(pieces->capacity() + page_blocks > buffer.size() / 64);
  CHECK(pieces->count() < 20);
  CHECK(source.pieces_out() == pieces->count());
  for (std::size_t index = 0; index < pieces->capacity(); ++index) {
    REQUIRE(pieces->index_of(pieces->address_of(index)) == index);
  }
}

TEST_CASE("addresses and indices are inverse, and nothing else has an index") {
  fake_blocks source;
  const chunks_ptr pieces = make(growing(24, 7), source);
  for (int i = 0; i < 4; ++i) REQUIRE(pieces->grow(pieces->newest()) != nullptr);
  REQUIRE(pieces->capacity() == 112);
  for (std::size_t index = 0; index < pieces->capacity(); ++index) {
    auto* const block = static_cast<std::byte*>(pieces->address_of(index));
    CHECK(pieces->index_of(block) == index);
    for (std::size_t offset = 1; offset < 24; ++offset) {
      CHECK(pieces->index_of(block + offset) == chunks::no_index);
    }
    chunk* const piece = pieces->holding(index);
    REQUIRE(piece != nullptr);
    CHECK(index - piece->first_index < piece->blocks);
  }
  for (const chunk* piece = pieces->newest(); piece != nullptr; piece = piece->older) {
    CHECK(pieces->index_of(piece->base - 24) == chunks::no_index);
    CHECK(pieces->index_of(piece->base + 24 * piece->blocks) == chunks::no_index);
  }
  CHECK(pieces->index_of(nullptr) == chunks::no_index);
}

TEST_CASE("the chunk that holds a block, grown if it is the next") {
  fake_blocks source;
  const chunks_ptr pieces = make(growing(24, 7, 14), source);
  CHECK(pieces->holding(6) == pieces->newest());
  CHECK(pieces->holding(7) == nullptr);
  CHECK(pieces->holding_or_grow(6)->first_index == 0);
  CHECK(pieces->holding_or_grow(7)->first_index == 7);
  CHECK(pieces->holding_or_grow(14) == nullptr);
  CHECK(pieces->holding(0)->first_index == 0);
}

TEST_CASE("first blocks of many pools lie at different places of their pages") {
  constexpr std::size_t pools = 64;
  constexpr std::size_t page_bytes = 4096;
  std::vector<chunks_ptr> all;
  std::set<std::uintptr_t> places;
  const auto shape =
      geometry::of({.block_size = 64, .block_count = 512, .alignment = 64}, 0, least_stride);
  for (std::size_t i = 0; i < pools; ++i) {
    all.emplace_back(chunks::create(shape, heapwise::os_blocks()));
    const auto first = reinterpret_cast<std::uintptr_t>(all.back()->newest()->base);
    CHECK(first % 64 == 0);
    places.insert(first % page_bytes);
  }
  // A nearest cache holds 8 to 12 lines of one place.
  CHECK(places.size() >= pools / 4);
}

} // namespace
