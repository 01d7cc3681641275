// The marker alone, on a heap that the test lays out.
#include <array>
#include <vector>

#include <doctest/doctest.h>

#include "gc/mark/mark.hpp"
#include "gc/mark/marker.hpp"

using namespace heapwise::gc;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Blocks of one kind in as many slices as it takes.
class blocks {
 public:
  blocks(space& in, kind block_kind, std::size_t count) : in_{in}, facts_{kind_table[block_kind]} {
    for (std::size_t first = 0; first < count; first += facts_.blocks) {
      slices_.push_back(in.take(1, block_kind));
      REQUIRE(slices_.back() != no_slice);
    }
  }
  void** operator[](std::size_t number) const {
    return reinterpret_cast<void**>(in_.address_of(slices_[number / facts_.blocks]) +
                                    number % facts_.blocks * facts_.bytes);
  }
  bool marked(std::size_t number) const {
    return in_.marks_of(slices_[number / facts_.blocks])[number % facts_.blocks].load() != 0;
  }
  std::size_t marked_among(std::size_t count) const {
    std::size_t sum = 0;
    for (std::size_t each = 0; each < count; ++each) sum += marked(each) ? 1 : 0;
    return sum;
  }

 private:
  space& in_;
  kind_facts facts_;
  std::vector<slice_index> slices_;
};

bool mark_from_word(const void* word, space& in, bool interior = false) {
  static const void* root_word;
  root_word = word;
  page_list<root> roots;
  REQUIRE(roots.add({{&root_word, &root_word + 1}, interior}));
  return mark_from(roots, in.what_is_where(), false);
}

} // namespace

TEST_CASE("every block of a chain is marked, however long, and nothing beside it") {
  REQUIRE(start_markers(1, mib, false));
  space memory; // one for all: it keeps its addresses for ever, and an emulator has fewer
  REQUIRE(memory.start(0));
  for (const std::size_t length : {1UL, 2UL, 7UL, 8UL, 9UL, 17UL, 100'000UL}) {
    for (const kind block_kind : {kind{1}, kind{3}, kind_of(1000, false)}) {
      CAPTURE(length);
      CAPTURE(int{block_kind});
      const blocks chain{memory, block_kind, 2 * length};
      for (std::size_t each = 0; each + 1 < length; ++each)
        chain[2 * each][1] = chain[2 * each + 2];
      CHECK_FALSE(mark_from_word(chain[0], memory));
      CHECK(chain.marked_among(2 * length) == length);
      CHECK_FALSE(chain.marked(1));
    }
  }
}

TEST_CASE("blocks that there is no room to note down are found by looking through the heap") {
  // The stack of the first marker is as large as its first test made it: one of its own.
  constexpr std::size_t width = 5000;
  space memory;
  REQUIRE(memory.start(0));
  const blocks wide{memory, kind_of(32'768, false), 2};
  const blocks leaves{memory, 1, 2 * width};
  marker narrow;
  REQUIRE(narrow.start(4096)); // 512 blocks
  narrow.begin(memory.what_is_where());
  for (std::size_t each = 0; each < 4000; ++each) wide[0][each] = leaves[each];
  narrow.scan<false>(wide[0], wide[0] + 4000);
  CHECK(narrow.overflowed());
  CHECK(leaves.marked_among(width) == 4000); // all marked, not all noted down
  CHECK(narrow.stack().size() == 512);
}

TEST_CASE("an address inside of a block is one of it only if that is asked for") {
  REQUIRE(start_markers(1, mib, false));
  for (const kind block_kind : {kind{1}, kind{4}, kind_of(9000, false)}) {
    CAPTURE(int{block_kind});
    space memory;
    REQUIRE(memory.start(0));
    const blocks some{memory, block_kind, 4};
    static_cast<void>(mark_from_word(reinterpret_cast<char*>(some[2]) + 8, memory));
    CHECK(some.marked_among(4) == 0);
    static_cast<void>(mark_from_word(reinterpret_cast<char*>(some[2]) + 8, memory, true));
    CHECK(some.marked_among(4) == 1);
    CHECK(some.marked(2));
  }
}

TEST_CASE("the rest behind the last block of a slice is not a block") {
  REQUIRE(start_markers(1, mib, false));
  space memory;
  REQUIRE(memory.start(0));
  const kind block_kind = kind_of(48, false);
  const blocks some{memory, block_kind, 1};
  auto* const behind = reinterpret_cast<char*>(some[0]) +
                       std::size_t{kind_table[block_kind].blocks} * kind_table[block_kind].bytes;
  REQUIRE(kind_table[block_kind].blocks * kind_table[block_kind].bytes < slice_bytes);
  static_cast<void>(mark_from_word(behind, memory));
  static_cast<void>(mark_from_word(behind, memory, true));
  CHECK(some.marked_among(1) == 0);
  for (std::size_t each = kind_table[block_kind].blocks; each < marks_of_slice; ++each) {
    CHECK(memory.marks_of(memory.slice_of(some[0]))[each].load() == 0);
  }
}

TEST_CASE("words that are not addresses of the heap, or of a slice without blocks, do nothing") {
  REQUIRE(start_markers(1, mib, false));
  space memory;
  REQUIRE(memory.start(0));
  const blocks some{memory, 1, 1};
  const slice_index free_slice = memory.take(1, 1);
  auto* const in_free_slice = memory.address_of(free_slice);
  memory.give(free_slice, 1);
  auto* const base = memory.address_of(0);
  for (const void* word :
       {static_cast<const void*>(nullptr), static_cast<const void*>(base),
        static_cast<const void*>(base - 16), static_cast<const void*>(in_free_slice),
        static_cast<const void*>(base + (std::size_t{1} << 39)),
        reinterpret_cast<const void*>(~std::uintptr_t{0})}) {
    static_cast<void>(mark_from_word(word, memory, true));
  }
  CHECK(some.marked_among(1) == 0);
  CHECK(memory.marks_of(free_slice)[0].load() == 0);
}

TEST_CASE("a stack grows, gives its oldest away, and uses their room again") {
  mark_stack stack;
  REQUIRE(stack.start(std::size_t{64} << 10)); // 8192 items
  for (std::uintptr_t each = 1; each <= 8192; ++each) REQUIRE(stack.push(grey{16 * each, 1}));
  CHECK_FALSE(stack.push(grey{16, 1}));
  std::vector<grey> taken(5000);
  REQUIRE(stack.take_oldest(taken.data(), 5000) == 5000);
  for (std::uintptr_t each = 0; each < 5000; ++each) {
    REQUIRE(reinterpret_cast<std::uintptr_t>(taken[each].block()) == 16 * (each + 1));
  }
  for (std::uintptr_t each = 0; each < 5000; ++each) REQUIRE(stack.push(grey{16, 1}));
  CHECK(stack.size() == 8192);
  CHECK(stack.take_oldest(taken.data(), 1) == 1);
  CHECK(reinterpret_cast<std::uintptr_t>(taken[0].block()) == 16 * 5001);
}
