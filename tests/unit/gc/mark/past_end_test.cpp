// Addresses one past the end of a block, in other blocks.
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::survived;

namespace {

constexpr std::array<std::size_t, 9> sizes = {8, 16, 48, 64, 100, 4096, 32'768, 65'536, 400'000};

void start(int interior_pointers) {
  heapwise_gc_options options{};
  options.interior_pointers = interior_pointers;
  REQUIRE(heapwise_gc_init(&options) == 0);
}

struct ends {
  std::array<char*, sizes.size()> of;
};

ends* volatile the_ends; // a root

/// Effects: for each size a block, of which its end is known. Between two blocks lies another one,
/// so that an end is not the beginning of the next.
std::array<hidden, sizes.size()> make_blocks(void* (*allocate)(std::size_t)) {
  std::array<hidden, sizes.size()> blocks;
  elsewhere([&] {
    the_ends = static_cast<ends*>(heapwise_gc_malloc(sizeof(ends)));
    for (std::size_t each = 0; each < sizes.size(); ++each) {
      auto* const block = static_cast<char*>(allocate(sizes[each]));
      static_cast<void>(allocate(sizes[each]));
      blocks[each] = hidden{block};
      the_ends->of[each] = block + sizes[each];
    }
    for (const std::size_t size : sizes) { // the windows of all sizes are elsewhere
      for (int each = 0; each < 10; ++each) static_cast<void>(allocate(size));
    }
    gc_test::leave_windows();
  });
  return blocks;
}

void expect_kept(void* (*allocate)(std::size_t)) {
  const auto blocks = make_blocks(allocate);
  heapwise_gc_collect();
  for (const hidden each : blocks) CHECK(survived(each));
  elsewhere([] { the_ends->of.fill(nullptr); });
  heapwise_gc_collect();
  for (const hidden each : blocks) CHECK_FALSE(survived(each));
}

void* inlined(std::size_t size) { // where the size is known, the allocation is inlined by default
  if (size == 16) return heapwise_gc_malloc(16);
  if (size == 48) return heapwise_gc_malloc(48);
  return heapwise_gc_malloc(size);
}

void* aligned(std::size_t size) { return heapwise_gc_malloc_aligned(64, size); }

void* moved(std::size_t size) { return heapwise_gc_realloc(heapwise_gc_malloc(size / 3), size); }

} // namespace

TEST_CASE("with interior_pointers 2, the address one past the end keeps a block of each size") {
  start(2);
  expect_kept(inlined);
}

TEST_CASE("it keeps blocks without addresses, aligned ones and those that realloc moved") {
  start(2);
  expect_kept(heapwise_gc_malloc_atomic);
  expect_kept(aligned);
  expect_kept(moved);
}

TEST_CASE("with interior_pointers 1 it does not keep a block that is full") {
  start(1);
  const auto blocks = make_blocks(inlined);
  heapwise_gc_collect();
  CHECK_FALSE(survived(blocks[1])); // of 16 bytes
  CHECK_FALSE(survived(blocks[2]));
  CHECK_FALSE(survived(blocks[3]));
  CHECK(survived(blocks[4])); // of 112, of which 100 were asked for
}

TEST_CASE("with interior_pointers 2, what may be used of a block ends before its last byte") {
  start(2);
  for (const std::size_t size : sizes) {
    auto* const block = static_cast<char*>(heapwise_gc_malloc(size));
    const std::size_t usable = heapwise_gc_usable_size(block);
    CHECK(usable >= size);
    CHECK(heapwise_gc_base(block + usable) == block);
    CHECK(heapwise_gc_usable_size(heapwise_gc_realloc(block, usable)) == usable);
  }
  CHECK(heapwise_gc_malloc(SIZE_MAX) == nullptr);
  CHECK(errno == ENOMEM);
}
