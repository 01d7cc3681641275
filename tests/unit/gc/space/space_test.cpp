#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "gc/space/space.hpp"

using namespace heapwise::gc;

TEST_CASE("kinds hold what is asked for, and waste at most a fifth above the small sizes") {
  for (std::size_t size = 0; size <= max_small_bytes; ++size) {
    const kind_facts& facts = kind_table[kind_of(size, false)];
    REQUIRE(facts.bytes >= size);
    REQUIRE_FALSE(facts.atomic);
    REQUIRE(kind_table[kind_of(size, true)].bytes == facts.bytes);
    REQUIRE(kind_table[kind_of(size, true)].atomic);
    REQUIRE(facts.bytes % granule_bytes == 0);
    if (size >= 128 && size <= max_shared_bytes)
      REQUIRE((facts.bytes - size) * 5 <= facts.bytes + 80);
  }
}

TEST_CASE("slices come from the left, the freed ones first") {
  space memory;
  REQUIRE(memory.start(0));
  std::vector<slice_index> taken;
  for (int each = 0; each < 100; ++each) taken.push_back(memory.take(1, 1));
  for (std::size_t each = 1; each < taken.size(); ++each) CHECK(taken[each] == taken[each - 1] + 1);
  CHECK(memory.used_bytes() == 100 * slice_bytes);
  memory.give(taken[50], 1);
  memory.give(taken[20], 1);
  CHECK(memory.kind_at(taken[20]) == no_kind);
  CHECK(memory.take(1, 2) == taken[20]);
  CHECK(memory.take(1, 2) == taken[50]);
  CHECK(memory.take(1, 2) == taken[99] + 1);
}

TEST_CASE("a large block gets slices side by side, and the first hole that is wide enough") {
  space memory;
  REQUIRE(memory.start(0));
  const slice_index first = memory.take(10, large);
  const slice_index second = memory.take(3, large_atomic);
  CHECK(second == first + 10);
  CHECK(memory.kind_at(first) == large);
  CHECK(memory.kind_at(first + 9) == inside_large);
  CHECK(memory.record(first + 9).slices == 9);
  memory.give(first, 10);
  CHECK(memory.take(11, large) == second + 3);
  CHECK(memory.take(4, large) == first);
  CHECK(memory.take(6, large) == first + 4);
}

TEST_CASE("slices that are used again have no marks") {
  space memory;
  REQUIRE(memory.start(0));
  const slice_index slice = memory.take(1, 1);
  for (std::size_t each = 0; each < marks_of_slice; ++each) memory.marks_of(slice)[each].store(1);
  memory.give(slice, 1);
  CHECK(memory.take(1, 2) == slice);
  for (std::size_t each = 0; each < kind_table[2].blocks; ++each) {
    REQUIRE(memory.marks_of(slice)[each].load() == 0);
  }
}

TEST_CASE("purged memory reads as zero, and no more is purged than was asked for") {
  space memory;
  REQUIRE(memory.start(0));
  const slice_index first = memory.take(8, large);
  std::memset(memory.address_of(first), 1, 8 * slice_bytes);
  for (slice_index each = first; each < first + 8; ++each) memory.record(each).dirty.store(true);
  const slice_index kept = memory.take(1, 1);
  std::memset(memory.address_of(kept), 1, slice_bytes);
  memory.record(kept).dirty.store(true);
  memory.give(first, 8);
  memory.purge(3 * slice_bytes);
  for (slice_index each = 0; each < 8; ++each) {
    CAPTURE(each);
    CHECK(memory.record(first + each).dirty.load() == (each < 3));
    CHECK(static_cast<int>(*memory.address_of(first + each)) == (each < 3 ? 1 : 0));
  }
  CHECK(static_cast<int>(*memory.address_of(kept)) == 1);
}

TEST_CASE("purging in parts ends as purging at once, and tells how much is left") {
  space memory;
  REQUIRE(memory.start(0));
  const slice_index first = memory.take(8, large);
  std::memset(memory.address_of(first), 1, 8 * slice_bytes);
  for (slice_index each = first; each < first + 8; ++each) memory.record(each).dirty.store(true);
  memory.give(first, 8);
  CHECK(memory.purge(3 * slice_bytes, 2 * slice_bytes) == 3 * slice_bytes);
  for (slice_index each = 0; each < 8; ++each) {
    CAPTURE(each);
    CHECK(memory.record(first + each).dirty.load() == (each < 6));
  }
  CHECK(memory.purge(3 * slice_bytes, 2 * slice_bytes) == slice_bytes);
  CHECK(memory.purge(3 * slice_bytes, 2 * slice_bytes) == 0);
  for (slice_index each = 0; each < 8; ++each) {
    CAPTURE(each);
    CHECK(memory.record(first + each).dirty.load() == (each < 3));
    CHECK(static_cast<int>(*memory.address_of(first + each)) == (each < 3 ? 1 : 0));
  }
  CHECK(memory.purge(3 * slice_bytes, 2 * slice_bytes) == 0);
}

TEST_CASE("a limit is kept, and space comes back below it") {
  space memory;
  REQUIRE(memory.start(4 * slice_bytes));
  CHECK(memory.take(5, large) == no_slice);
  const slice_index taken = memory.take(3, large);
  REQUIRE(taken != no_slice);
  CHECK(memory.take(2, large) == no_slice);
  CHECK(memory.take(1, 1) != no_slice);
  CHECK(memory.take(1, 1) == no_slice);
  memory.give(taken, 3);
  CHECK(memory.take(3, large) == taken);
}

TEST_CASE("more than the range holds is refused") {
  space memory;
  REQUIRE(memory.start(0));
  CHECK(memory.take(std::size_t{1} << 40, large) == no_slice);
  CHECK(memory.take(SIZE_MAX / slice_bytes, large) == no_slice);
  CHECK(memory.take(1, 1) != no_slice);
}
