// Blocks of which only some words may hold addresses.
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <vector>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::survived;

namespace {

/// Two words that look like addresses, of which one is.
struct pair {
  void* address;
  void* number;
};

pair* volatile the_pairs;
hidden by_address;
hidden by_number;

const heapwise_gc_layout* layout_of_pair() {
  const std::size_t offsets[] = {offsetof(pair, address)};
  return heapwise_gc_make_layout(sizeof(pair), offsets, 1);
}

/// Effects: `count` pairs in one block; the pair `at` leads to a block, and its number is the
/// address of another one.
void make_pairs(std::size_t count, std::size_t at) {
  elsewhere([=] {
    auto* const block =
        static_cast<pair*>(heapwise_gc_malloc_typed(layout_of_pair(), count * sizeof(pair)));
    block[at] = {heapwise_gc_malloc(64), heapwise_gc_malloc(64)};
    by_address = hidden{block[at].address};
    by_number = hidden{block[at].number};
    the_pairs = block;
    gc_test::leave_windows();
    for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(64));
  });
}

} // namespace

TEST_CASE("the words that the layout names are looked through, and no others") {
  heapwise_gc_init(nullptr);
  for (const std::size_t at : std::initializer_list<std::size_t>{0, 1, 7, 99}) {
    make_pairs(100, at);
    heapwise_gc_collect();
    CHECK(survived(by_address));
    CHECK_FALSE(survived(by_number));
  }
}

TEST_CASE("sizes that are not a multiple of the element, and large blocks, lose nothing") {
  heapwise_gc_init(nullptr);
  for (const std::size_t count :
       std::initializer_list<std::size_t>{1, 2, 3, 511, 2047, 2048, 9000}) {
    make_pairs(count, count - 1);
    heapwise_gc_collect();
    CHECK(survived(by_address));
    const bool whole = count * sizeof(pair) > 32'760; // looked through as a whole
    CHECK(survived(by_number) == whole);
  }
}

TEST_CASE("a typed block is zeroed, and has its size without the word of the layout") {
  heapwise_gc_init(nullptr);
  for (const std::size_t size : std::initializer_list<std::size_t>{0, 8, 16, 100, 5000, 32'760}) {
    for (int each = 0; each < 3; ++each) {
      auto* const block =
          static_cast<unsigned char*>(heapwise_gc_malloc_typed(layout_of_pair(), size));
      REQUIRE(block != nullptr);
      const std::size_t usable = heapwise_gc_usable_size(block);
      REQUIRE(usable >= size);
      for (std::size_t byte = 0; byte < usable; ++byte) REQUIRE(block[byte] == 0);
      std::memset(block, 0, usable); // all of it may be written
      heapwise_gc_collect();
      if (each == 1) heapwise_gc_free(block); // and its place is used again
    }
  }
}

TEST_CASE("a typed block that grows or shrinks keeps its layout") {
  heapwise_gc_init(nullptr);
  for (const std::size_t count : std::initializer_list<std::size_t>{3, 10, 300}) {
    make_pairs(4, 2);
    elsewhere([=] {
      the_pairs = static_cast<pair*>(heapwise_gc_realloc(the_pairs, count * sizeof(pair)));
      gc_test::leave_windows();
    });
    heapwise_gc_collect();
    CHECK(survived(by_address));
    CHECK_FALSE(survived(by_number));
  }
}

TEST_CASE("an old address of a block that is not handed out yet does no harm") {
  heapwise_gc_init(nullptr);
  constexpr std::size_t slice_bytes = heapwise::gc::slice_bytes;
  elsewhere([] { // memory that holds anything, and is used again
    for (int each = 0; each < 500; ++each) std::memset(heapwise_gc_malloc_atomic(5000), 0xAA, 5000);
  });
  heapwise_gc_collect();
  static void* volatile old_addresses[4];
  std::size_t kind_number = 0;
  for (const std::size_t size : std::initializer_list<std::size_t>{8, 100, 5000, 20'000}) {
    elsewhere([=] {
      void* const block = heapwise_gc_malloc_typed(layout_of_pair(), size);
      const std::uintptr_t slice = reinterpret_cast<std::uintptr_t>(block) / slice_bytes;
      const std::uintptr_t behind = (slice + 1) * slice_bytes - size - 2000;
      old_addresses[kind_number] = heapwise_gc_base(reinterpret_cast<void*>(behind));
      REQUIRE(old_addresses[kind_number] != block);
    });
    ++kind_number;
  }
  heapwise_gc_collect();
}

TEST_CASE("a layout without words is one of a block without addresses") {
  heapwise_gc_init(nullptr);
  elsewhere([] {
    const heapwise_gc_layout* const none = heapwise_gc_make_layout(sizeof(pair), nullptr, 0);
    the_pairs = static_cast<pair*>(heapwise_gc_malloc_typed(none, sizeof(pair)));
    the_pairs->address = heapwise_gc_malloc(64);
    by_address = hidden{the_pairs->address};
    gc_test::leave_windows();
    for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(64));
  });
  heapwise_gc_collect();
  CHECK_FALSE(survived(by_address));
}

TEST_CASE("many layouts, also large ones") {
  heapwise_gc_init(nullptr);
  for (std::size_t words = 1; words <= 4000; words += 37) {
    std::vector<std::size_t> offsets(words);
    for (std::size_t each = 0; each < words; ++each) offsets[each] = each * sizeof(void*);
    const heapwise_gc_layout* const all =
        heapwise_gc_make_layout(words * sizeof(void*), offsets.data(), words);
    REQUIRE(all != nullptr);
    elsewhere([=] {
      auto** const block =
          static_cast<void**>(heapwise_gc_malloc_typed(all, words * sizeof(void*)));
      the_pairs = reinterpret_cast<pair*>(block);
      block[words - 1] = heapwise_gc_malloc(64);
      by_address = hidden{block[words - 1]};
      gc_test::leave_windows();
      for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(64));
    });
    heapwise_gc_collect();
    REQUIRE(survived(by_address));
  }
}

TEST_CASE("wrong layouts are refused") {
  const std::size_t inside[] = {8};
  const std::size_t crooked[] = {4};
  const std::size_t two[] = {0, 0};
  errno = 0;
  CHECK(heapwise_gc_make_layout(0, inside, 0) == nullptr);
  CHECK(errno == EINVAL);
  CHECK(heapwise_gc_make_layout(12, inside, 1) == nullptr);
  CHECK(heapwise_gc_make_layout(8, inside, 1) == nullptr);
  CHECK(heapwise_gc_make_layout(16, crooked, 1) == nullptr);
  CHECK(heapwise_gc_make_layout(8, two, 2) == nullptr);
  CHECK(heapwise_gc_make_layout(16, inside, 1) != nullptr);
}

TEST_CASE("typed blocks that a small mark stack cannot hold keep what they lead to") {
  heapwise_gc_options options{};
  options.mark_stack_bytes = 4096;
  heapwise_gc_init(&options);
  constexpr std::size_t width = 100'000;
  const heapwise_gc_layout* const of_pair = layout_of_pair();
  static pair** volatile table;
  elsewhere([=] {
    table = static_cast<pair**>(heapwise_gc_malloc(width * sizeof(pair*)));
    for (std::size_t each = 0; each < width; ++each) {
      table[each] = static_cast<pair*>(heapwise_gc_malloc_typed(of_pair, sizeof(pair)));
      table[each]->address = heapwise_gc_malloc(16);
      *static_cast<std::size_t*>(table[each]->address) = each;
    }
    for (int round = 0; round < 3; ++round) {
      heapwise_gc_collect();
      for (std::size_t each = 0; each < width; ++each) static_cast<void>(heapwise_gc_malloc(16));
    }
    for (std::size_t each = 0; each < width; ++each) {
      REQUIRE(*static_cast<std::size_t*>(table[each]->address) == each);
    }
  });
  CHECK(gc_test::statistics().mark_stack_overflows > 0);
}
