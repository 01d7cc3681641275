// Huge pages for the heap, of which copies of the process are made faster.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "gc/space/space.hpp"
#include "gc/surroundings.hpp"
#include "os/placement.hpp"
#include "smaps.hpp"

using heapwise::gc::slice_bytes;
using heapwise::gc::slice_index;
using heapwise::gc::space;
using heapwise::os::huge_page_bytes;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Other systems have huge pages that are too large.
bool has_huge_pages() { return smaps::tells_huge_pages() && huge_page_bytes() == 2 * mib; }

void start(std::size_t concurrent_bytes) {
  heapwise_gc_options options{};
  options.concurrent_bytes = concurrent_bytes;
  REQUIRE(heapwise_gc_init(&options) == 0);
}

} // namespace

TEST_CASE("where a copy marks, the system is asked for huge pages for every block" *
          doctest::skip(HEAPWISE_EMULATED)) {
  if (!has_huge_pages()) return;
  start(1);
  CHECK(smaps::has_flag(heapwise_gc_malloc(16), "hg"));
  CHECK(smaps::has_flag(heapwise_gc_malloc(40 * mib), "hg"));
}

TEST_CASE("where no copy marks, the system is asked for huge pages behind 32 MiB" *
          doctest::skip(HEAPWISE_EMULATED)) {
  if (!has_huge_pages()) return;
  start(0);
  CHECK_FALSE(smaps::has_flag(heapwise_gc_malloc(16), "hg"));
  const auto* const block = static_cast<const char*>(heapwise_gc_malloc(40 * mib));
  CHECK_FALSE(smaps::has_flag(block + 28 * mib, "hg"));
  CHECK(smaps::has_flag(block + 36 * mib, "hg"));
}

TEST_CASE("a heap of twice as much is in huge pages from its beginning on" *
          doctest::skip(HEAPWISE_EMULATED)) {
  if (!has_huge_pages()) return;
  start(0);
  const auto* const first = static_cast<const char*>(heapwise_gc_malloc(8 * mib));
  void* volatile middle = heapwise_gc_malloc(60 * mib);
  REQUIRE(middle != nullptr);
  CHECK_FALSE(smaps::has_flag(first + 4 * mib, "hg"));
  for (int each = 0; each < 4; ++each) static_cast<void>(heapwise_gc_malloc(mib));
  // One huge page with each block. A system that cannot do it is asked once.
  CHECK(smaps::has_flag(heapwise_gc_base(first), "hg"));
}

TEST_CASE("a heap that gives memory back is not filled up with huge pages" *
          doctest::skip(HEAPWISE_EMULATED)) {
  if (!has_huge_pages()) return;
  start(0);
  auto* block = static_cast<char*>(heapwise_gc_malloc(40 * mib));
  block[0] = 1;
  const char* const inside = block + 36 * mib;
  heapwise_gc_free(block);
  CHECK(smaps::has_flag(inside, "hg"));
  heapwise_gc_collect_and_release();
  CHECK_FALSE(smaps::has_flag(inside, "hg"));
  const auto* const larger = static_cast<const char*>(heapwise_gc_malloc(120 * mib));
  CHECK_FALSE(smaps::has_flag(inside, "hg"));
  CHECK(smaps::has_flag(larger + 110 * mib, "hg"));
}

// The emulator keeps advice about pages to itself.
TEST_CASE(
    "where a copy marks, a huge page that is free as a whole is fresh when it is taken again" *
    doctest::skip(HEAPWISE_EMULATED)) {
  constexpr slice_index slices = 2 * mib / slice_bytes;
  for (const bool copies : {true, false}) {
    CAPTURE(copies);
    space memory;
    const std::size_t from = copies ? 0 : heapwise::gc::space_features::no_huge_pages;
    REQUIRE(memory.start(0, {.huge_pages_from = from}));
    for (slice_index each = 1; each < 6 * slices; ++each) {
      REQUIRE(memory.take(1, heapwise::gc::pair_kind) == each);
      *memory.address_of(each) = std::byte{1};
      memory.record(each).dirty = true;
    }
    memory.give(2 * slices, slices);
    memory.give(4 * slices, slices - 1); // not all of a huge page
    REQUIRE(memory.take(1, heapwise::gc::pair_kind) == 2 * slices);
    for (slice_index each = 2 * slices; each < 3 * slices; ++each) {
      CHECK(memory.record(each).dirty.load() == !copies);
      CHECK(*memory.address_of(each) == static_cast<std::byte>(copies ? 0 : 1));
    }
    for (slice_index each = 2 * slices + 1; each < 3 * slices; ++each) {
      REQUIRE(memory.take(1, heapwise::gc::pair_kind) == each);
    }
    REQUIRE(memory.take(1, heapwise::gc::pair_kind) == 4 * slices);
    CHECK(memory.record(4 * slices).dirty.load());
    CHECK(*memory.address_of(4 * slices) == std::byte{1});
    memory.end();
  }
}

TEST_CASE("all slices of a huge page are usable before the first one is handed out") {
  if (!has_huge_pages()) return;
  space memory;
  REQUIRE(memory.start(0, {.huge_pages_from = 0}));
  for (int each = 0; each < 1000; ++each) {
    const slice_index slice = memory.take(1, heapwise::gc::pair_kind);
    REQUIRE(slice != heapwise::gc::no_slice);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.address_of(slice));
    const std::uintptr_t huge_page = address / huge_page_bytes() * huge_page_bytes();
    // A byte that cannot be written yet would end the test.
    *reinterpret_cast<volatile char*>(huge_page + huge_page_bytes() - 1) = 0;
    *reinterpret_cast<volatile char*>(huge_page) = 0;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.address_of(0));
  CHECK(begin % huge_page_bytes() == 0);
  memory.end();
}
