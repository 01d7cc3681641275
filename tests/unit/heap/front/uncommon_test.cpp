#include "heap/front/uncommon.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include <sys/mman.h>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/base/options.hpp"
#include "heap/large/large_blocks.hpp"
#include "heap/large/large_stock.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "os/os.hpp"
#include "stress/contents.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t mib = std::size_t{1} << 20;

std::byte* allocate(std::size_t size, std::size_t alignment = 16, bool zeroed = false) {
  start_without_clock();
  return static_cast<std::byte*>(allocate_large(size, alignment, zeroed));
}

bool all_are(const std::byte* begin, std::size_t count, int value) {
  return stress::all_are(begin, count, static_cast<unsigned char>(value));
}

TEST_CASE("a large block has whole pages, and its slices come and go with it") {
  for (const std::size_t size :
       {std::size_t{1}, max_small_bytes + 1, slice_bytes, slice_bytes + 1, mib, 10 * mib + 5}) {
    CAPTURE(size);
    const std::size_t used = the_space.used_bytes();
    const large_figures before = count_large();
    std::byte* const block = allocate(size);
    REQUIRE(block != nullptr);
    const std::size_t page = heapwise::os::page_bytes();
    const std::size_t pages = (size + page - 1) / page * page;
    CHECK(usable_bytes(block) == pages);
    CHECK(count_large().blocks == before.blocks + 1);
    CHECK(count_large().bytes == before.bytes + pages);
    CHECK(the_space.used_bytes() == used + (size + slice_bytes - 1) / slice_bytes * slice_bytes);
    std::memset(block, 1, pages);
    heapwise_free(block);
    CHECK(count_large().blocks == before.blocks);
    CHECK(count_large().bytes == before.bytes);
    CHECK(the_space.used_bytes() == used);
  }
}

TEST_CASE("any alignment, with any size") {
  for (std::size_t alignment = 1; alignment <= 64 * mib; alignment *= 2) {
    for (const std::size_t size : {0UL, 1UL, 40'000UL, 1'000'000UL}) {
      std::byte* const block = allocate(size, alignment);
      std::byte* const other = allocate(size, alignment);
      REQUIRE(block != nullptr);
      REQUIRE(other != nullptr);
      CHECK(block != other);
      CHECK(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(other) % alignment == 0);
      heapwise_free(block);
      heapwise_free(other);
    }
  }
}

TEST_CASE("zeroed means zero, also where others have written before") {
  for (int round = 0; round < 3; ++round) {
    std::byte* const block = allocate(mib, 16, true);
    REQUIRE(all_are(block, mib, 0));
    std::memset(block, 9, mib);
    heapwise_free(block);
    if (round == 1) the_space.purge(0);
  }
}

/// Returns: the bytes of memory that the process has.
std::size_t resident_bytes() {
  std::ifstream numbers{"/proc/self/statm"};
  std::size_t total = 0;
  std::size_t resident = 0;
  numbers >> total >> resident;
  return resident * heapwise::os::page_bytes();
}

TEST_CASE("zeroed memory is written only where others have written before") {
  constexpr std::size_t size = 512 * mib;
  std::vector<std::byte*> written; // long ones, and short ones with gaps between them
  for (int i = 0; i < 16; ++i) written.push_back(allocate(2 * mib));
  for (int i = 0; i < 64; ++i) written.push_back(allocate(2 * slice_bytes));
  for (std::byte* const each : written) std::memset(each, 7, 2 * slice_bytes);
  for (int i = 0; i < 16; ++i) std::memset(written[static_cast<std::size_t>(i)], 7, 2 * mib);
  for (std::byte* const each : written) heapwise_free(each);
  const auto expect_zeros = [](const std::byte* block) {
    for (std::size_t at = 0; at < 64 * mib; ++at) {
      if (block[at] != std::byte{0}) FAIL("not zero at " << at);
    }
  };
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = resident_bytes();
    std::byte* const block = allocate(size, 16, true);
    REQUIRE(block != nullptr);
    CHECK(resident_bytes() < before + 16 * mib);
    expect_zeros(block);
    heapwise_free(block);
    // The next round: every other slice was given back.
    the_space.purge(0);
    for (std::byte*& each : written) each = allocate(slice_bytes);
    for (std::size_t i = 0; i < written.size(); i += 2) std::memset(written[i], 9, slice_bytes);
    for (std::size_t i = 0; i < written.size(); ++i) {
      the_space.give(*the_space.record(the_space.slice_of(written[i])), 0, i % 2 == 1);
    }
  }
}

TEST_CASE("impossible requests are refused, with ENOMEM") {
  for (const std::size_t size : {SIZE_MAX, static_cast<std::size_t>(PTRDIFF_MAX),
                                 PTRDIFF_MAX - slice_bytes, std::size_t{1} << 62}) {
    errno = 0;
    CHECK(allocate(size) == nullptr);
    CHECK(errno == ENOMEM);
  }
  CHECK(allocate(1, std::size_t{1} << 63) == nullptr);
  std::byte* const block = allocate(mib);
  std::memset(block, 5, mib);
  CHECK(heapwise_realloc(block, PTRDIFF_MAX) == nullptr);
  CHECK(heapwise_realloc(block, the_space.reserved_bytes() + 1) == nullptr);
  CHECK(all_are(block, mib, 5));
  CHECK(usable_bytes(block) == mib);
  heapwise_free(block);
}

TEST_CASE("growing goes on at its place while that is free, and moves where it is not") {
  std::byte* const block = allocate(mib);
  std::memset(block, 3, mib);
  auto* const same = static_cast<std::byte*>(heapwise_realloc(block, 2 * mib));
  CHECK(same == block);
  CHECK(all_are(same, mib, 3));
  std::byte* const wall = allocate(mib);
  REQUIRE(wall == block + 2 * mib);
  std::memset(same, 4, 2 * mib);
  auto* const new_block = static_cast<std::byte*>(heapwise_realloc(same, 3 * mib));
  CHECK(new_block != same);
  CHECK(all_are(new_block, 2 * mib, 4));
  CHECK(usable_bytes(new_block) == 3 * mib);
  auto* const grown = static_cast<std::byte*>(heapwise_realloc(new_block, 4 * mib));
  CHECK(grown == new_block); // a block that had to move has room to grow
  std::memset(grown, 6, 4 * mib);
  heapwise_free(wall);
  heapwise_free(grown);
}

/// Returns: how many mappings the system has for the bytes.
std::size_t mappings_of(const std::byte* begin, std::size_t size) {
  std::ifstream lines{"/proc/self/maps"};
  const auto first = reinterpret_cast<std::uintptr_t>(begin);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line);) {
    std::size_t length = 0;
    const std::uintptr_t from = std::stoull(line, &length, 16);
    const std::uintptr_t to = std::stoull(line.substr(length + 1), nullptr, 16);
    count += from < first + size && to > first;
  }
  return count;
}

/// A block that has to move each time it grows.
struct walled_block {
  std::byte* block;
  std::size_t size;
  std::vector<std::byte*> walls{};

  void grow(std::size_t to) {
    walls.push_back(allocate(1)); // the first free place may not be behind it
    while (walls.back() < block) walls.push_back(allocate(1));
    auto* const new_block = static_cast<std::byte*>(heapwise_realloc(block, to));
    REQUIRE(new_block != nullptr);
    for (std::size_t at = 0; at < size; ++at) {
      if (new_block[at] != static_cast<std::byte>(at / 4096 % 251)) FAIL("lost at " << at);
    }
    block = new_block;
    size = to;
    fill();
  }
  void fill() const {
    for (std::size_t at = 0; at < size; ++at) block[at] = static_cast<std::byte>(at / 4096 % 251);
  }
  ~walled_block() {
    for (std::byte* const wall : walls) heapwise_free(wall);
    heapwise_free(block);
  }
};

/// Effects: grows a block by halves from 16 bytes to a slice. Returns: how often it moved when it
/// was larger than a page.
int moves_while_growing(std::byte*& block) {
  int moves = 0;
  std::size_t size = 16;
  block = static_cast<std::byte*>(heapwise_malloc(size));
  std::memset(block, 5, size);
  while (size < slice_bytes) {
    const std::size_t more = std::min(size + size / 2, slice_bytes);
    auto* const grown = static_cast<std::byte*>(heapwise_realloc(block, more));
    REQUIRE(grown != nullptr);
    REQUIRE(all_are(grown, size, 5));
    std::memset(grown + size, 5, more - size);
    if (size > 4096 && grown != block) ++moves;
    block = grown;
    size = more;
  }
  return moves;
}

TEST_CASE("a small block that grows is copied only while it is short") {
  start_without_clock();
  for (int life = 0; life < 100; ++life) {
    std::byte* block = nullptr;
    CHECK(moves_while_growing(block) <= 1);
    heapwise_free(block);
  }
}

TEST_CASE("few small blocks that grow have slices of their own, and all of them come back") {
  start_without_clock();
  constexpr std::size_t count = 500;
  const std::size_t used = the_space.used_bytes();
  const large_figures before = count_large();
  for (int life = 0; life < 3; ++life) {
    std::vector<void*> blocks;
    for (std::size_t i = 0; i < count; ++i) {
      blocks.push_back(heapwise_realloc(heapwise_malloc(3000), 5000));
    }
    const std::size_t large = count_large().blocks - before.blocks;
    CHECK(large >= 1);
    CHECK(large <= std::max(std::size_t{1}, the_space.used_bytes() / slice_bytes / 64));
    for (void*& each : blocks) each = heapwise_realloc(each, 1000); // small again
    CHECK(count_large().blocks == before.blocks);
    for (void* each : blocks) heapwise_free(each);
  }
  bring_everything_home();
  CHECK(count_large().bytes == before.bytes);
  CHECK(the_space.used_bytes() <= used + 4 * max_span_slices * slice_bytes); // spare spans
  std::byte* block = nullptr;
  CHECK(moves_while_growing(block) <= 1); // none of them counts any more
  heapwise_free(block);
}

TEST_CASE("a block that grows is not put into a hole that it would have to leave") {
  start_without_clock();
  std::vector<void*> walls;
  for (int i = 0; i < 40; ++i) walls.push_back(heapwise_malloc(slice_bytes));
  for (std::size_t i = 1; i < walls.size(); i += 2) {
    heapwise_free(walls[i]);
    walls[i] = nullptr;
  }
  void* const grown = heapwise_realloc(heapwise_malloc(1500), 3000);
  CHECK(heapwise_realloc(grown, std::size_t{1} << 20) == grown);
  heapwise_free(grown);
  for (void* each : walls) heapwise_free(each);
}

TEST_CASE("the slice of a block that grew waits for the next one, and goes home when asked") {
  start_without_clock();
  bring_everything_home();
  const std::size_t used = the_space.used_bytes();
  const large_figures before = count_large();
  void* const first = heapwise_realloc(heapwise_malloc(1500), 3000);
  CHECK(count_large().blocks == before.blocks + 1);
  heapwise_free(first);
  CHECK(count_large().blocks == before.blocks);
  CHECK(count_large().bytes == before.bytes);
  CHECK(the_space.used_bytes() >= used + slice_bytes);
  void* const wall = heapwise_malloc(slice_bytes); // of the lowest free slice
  CHECK(wall != first);
  void* const second = heapwise_realloc(heapwise_malloc(1500), 3000);
  CHECK(second == first);
  heapwise_free(second);
  heapwise_free(wall);
  trim_large_stocks();
  CHECK(stocked_large_bytes() == 0);
}

TEST_CASE("a block that moves many times has its contents, and leaves no pieces behind") {
  const std::size_t before = count_pieces();
  {
    walled_block one{allocate(mib), mib};
    one.fill();
    const std::byte* const end_of_small_pages = the_space.address_of(4 * mib / slice_bytes);
    const auto lies_across = [&] { // with the room that it has to grow
      const std::byte* const end = one.block + one.size + one.size / 2;
      return one.block < end_of_small_pages && end_of_small_pages < end;
    };
    for (int i = 0; i < 6; ++i) {
      const std::size_t pieces = count_pieces();
      const bool lay_across = lies_across();
      one.grow(2 * one.size);
      // One more than it had, and one if it lay or lies across the end of the small pages.
      CHECK(count_pieces() <= pieces + 1 + (lay_across || lies_across() ? 1 : 0));
      CHECK(mappings_of(one.block, one.size) <= count_pieces() - before + 1);
    }
    one.size = mib; // shrinks over the ends of its pieces
    REQUIRE(heapwise_realloc(one.block, one.size) == one.block);
    one.grow(70 * mib);
  }
  CHECK(count_pieces() == before);
  CHECK(mappings_of(the_space.address_of(0), the_space.committed_slices() * slice_bytes) <= 2);
}

TEST_CASE("a block moves whose pages the program has treated differently") {
  const std::size_t page = heapwise::os::page_bytes();
  const std::size_t before = count_pieces();
  {
    walled_block one{allocate(2 * mib), 2 * mib};
    one.fill();
    REQUIRE(::madvise(one.block + 5 * page, 3 * page, MADV_DONTDUMP) == 0);
    REQUIRE(::madvise(one.block + 100 * page, 30 * page, MADV_RANDOM) == 0);
    one.grow(4 * mib);
    one.grow(8 * mib);
    for (std::size_t at = 0; at < 64; ++at) {
      REQUIRE(::madvise(one.block + 2 * at * page, page, MADV_DONTFORK) == 0);
    }
    one.grow(16 * mib); // has too many pieces to move: the rest is copied
  }
  CHECK(count_pieces() == before);
}

TEST_CASE("shrinking gives back what is behind") {
  const std::size_t used = the_space.used_bytes();
  std::byte* const block = allocate(8 * mib);
  std::memset(block, 3, 8 * mib);
  CHECK(heapwise_realloc(block, mib) == block);
  CHECK(the_space.used_bytes() <= used + 2 * mib);
  CHECK(usable_bytes(block) == mib);
  CHECK(all_are(block, mib, 3));
  std::byte* const behind = allocate(2 * mib);
  CHECK(behind < block + 8 * mib);
  std::memset(behind, 1, 2 * mib);
  CHECK(all_are(block, mib, 3));
  auto* const small = static_cast<std::byte*>(heapwise_realloc(block, 100));
  CHECK(all_are(small, 100, 3));
  CHECK(usable_bytes(small) == 112);
  heapwise_free(small);
  heapwise_free(behind);
  CHECK(the_space.used_bytes() <= used + slice_bytes); // a span of small ones
}

TEST_CASE("pages that a block no longer needs are not resident, also if it keeps the addresses") {
  std::byte* const block = allocate(60 * mib);
  std::memset(block, 3, 60 * mib);
  const std::size_t full = resident_bytes();
  REQUIRE(heapwise_realloc(block, 45 * mib) == block);
  CHECK(resident_bytes() <= full - 14 * mib);
  for (std::size_t size = 45 * mib; size >= 35 * mib; size -= mib / 4) {
    REQUIRE(heapwise_realloc(block, size) == block); // by little at a time
  }
  CHECK(resident_bytes() <= full - 23 * mib);
  CHECK(all_are(block, 35 * mib, 3));
  REQUIRE(heapwise_realloc(block, 44 * mib) == block);
  std::memset(block, 4, 44 * mib);
  REQUIRE(heapwise_realloc(block, 36 * mib) == block);
  CHECK(resident_bytes() <= full - 23 * mib);
  CHECK(all_are(block, 36 * mib, 4));
  heapwise_free(block);
}

TEST_CASE("a random life of large blocks: contents follow, neighbours stay, the books agree") {
  stress::random draw{5};
  struct kept {
    std::byte* block;
    std::size_t size;
    unsigned char sign;
  };
  std::vector<kept> mine;
  const large_figures before = count_large();
  const std::size_t used = the_space.used_bytes();
  for (int step = 0; step < 1'000; ++step) {
    const std::size_t size = max_small_bytes + 1 + draw.below(600'000);
    if (mine.size() < 12) {
      const auto sign = static_cast<unsigned char>(step);
      mine.push_back({allocate(size, std::size_t{16} << draw.below(15)), size, sign});
      std::memset(mine.back().block, sign, size);
      continue;
    }
    kept& one = mine[draw.below(mine.size())];
    REQUIRE(all_are(one.block, one.size, one.sign));
    if (draw.below(3) == 0) {
      heapwise_free(one.block);
      std::swap(one, mine.back());
      mine.pop_back();
      continue;
    }
    one.block = static_cast<std::byte*>(heapwise_realloc(one.block, size));
    REQUIRE(all_are(one.block, std::min(one.size, size), one.sign));
    one.size = size;
    std::memset(one.block, one.sign, size);
  }
  for (const kept& each : mine) {
    REQUIRE(all_are(each.block, each.size, each.sign));
    heapwise_free(each.block);
  }
  CHECK(count_large().blocks == before.blocks);
  CHECK(count_large().bytes == before.bytes);
  CHECK(the_space.used_bytes() == used);
}

/// Returns: why the address was refused, empty if it was not.
std::string refused(void* address) {
  const contract::ending how = contract::in_child([&] {
    heapwise_free(address);
    bring_everything_home();
  });
  if (how.signal != SIGABRT) return "";
  const std::size_t begin = how.error.find(": ", sizeof "heapwise: ") + 2;
  return how.error.substr(begin, how.error.find(". ", begin) - begin);
}

TEST_CASE("every address that is not a block's is refused with the reason") {
  int foreign = 0;
  std::byte* const large = allocate(mib);
  auto* const small = static_cast<std::byte*>(heapwise_malloc(1000));
  CHECK(refused(&foreign) == "it is not an address of this heap");
  CHECK(refused(large + 16) == "it is inside of a block, not its start");
  CHECK(refused(large + 8) == "no block starts there");
  CHECK_FALSE(refused(large + 3 * slice_bytes).empty());
  CHECK(refused(small + 8) == "no block starts there");
  CHECK(refused(small + 16) == "it is inside of a block, not its start");
  CHECK(refused(the_space.address_of(the_space.committed_slices() + 5)) ==
        "there is no block in use there");
  std::byte* const unused = the_space.address_of(the_space.committed_slices() - 1);
  CHECK(refused(unused) == "there is no block in use there");
  heapwise_free(large);
  CHECK(refused(large) == "there is no block in use there");
  heapwise_free(small);
  CHECK(refused(nullptr).empty());
}

/// Returns: why the bin of a class refused the address.
std::string refused_by_bin(std::byte* address) {
  const contract::ending how = contract::in_child([&] { the_bins[5].put_back(&address, 1, 5); });
  if (how.signal != SIGABRT) return "signal " + std::to_string(how.signal);
  const std::size_t begin = how.error.find(": ", sizeof "heapwise: ") + 2;
  return how.error.substr(begin, how.error.find(". ", begin) - begin);
}

TEST_CASE("an address of nobody that is freed with a size is refused, not looked up") {
  std::byte* const block = allocate(mib);
  std::byte on_the_stack{};
  CHECK(refused_by_bin(&on_the_stack) == "it is not an address of this heap");
  CHECK(refused_by_bin(nullptr) == "it is not an address of this heap");
  CHECK(refused_by_bin(the_space.address_of(0) - slice_bytes) ==
        "it is not an address of this heap");
  CHECK(refused_by_bin(the_space.address_of(the_space.committed_slices() + 5)) ==
        "it is not an address of this heap");
  CHECK(refused_by_bin(block) == "it was freed before");
  heapwise_free(block);
}

TEST_CASE("an address whose record is of an earlier life is refused") {
  std::byte* const block = allocate(4 * slice_bytes);
  const slice_index inner = the_space.slice_of(block) + 2;
  // As between the moment when a span is taken and the one when it is described.
  the_space.record(inner)->slices = UINT32_MAX;
  the_space.record(inner)->use.store(slice_use::inside);
  CHECK(refused(the_space.address_of(inner)) == "there is no block in use there");
  CHECK(refused_by_bin(the_space.address_of(inner)) == "it was freed before");
  the_space.record(inner)->use.store(slice_use::none);
  heapwise_free(block);
}

TEST_CASE("of two threads that free a large block one is told") {
  std::byte* const block = allocate(mib);
  const contract::ending how = contract::in_child(
      [&] { stress::on_threads(2, [&](std::size_t) { heapwise_free(block); }); });
  CHECK(how.signal == SIGABRT);
  heapwise_free(block);
}

} // namespace

TEST_CASE("near a limit a block grows without room to grow") {
  void* const block = heapwise_malloc(20 * mib);
  void* const wall = heapwise_malloc(mib); // or it could grow at its place
  REQUIRE((block != nullptr && wall != nullptr));
  // Enough for the old place and the new one, not for half as much again.
  const std::size_t unlimited = heapwise::detail::the_options.limit_bytes;
  heapwise::detail::the_options.limit_bytes = heapwise::detail::the_space.used_bytes() + 40 * mib;
  void* const grown = heapwise_realloc(block, 36 * mib);
  heapwise::detail::the_options.limit_bytes = unlimited;
  CHECK(grown != nullptr);
  heapwise_free(grown != nullptr ? grown : block);
  heapwise_free(wall);
}
