// Addresses that returned functions left on the stack, where the frames of the collector come to
// lie.
#include <array>
#include <cstddef>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

constexpr std::size_t words = 1024;     // of stack, below the frame of the caller
constexpr std::size_t words_first = 20; // in the frame of the function that the program calls

/// Effects: writes the address into the stack that the next calls will use, but not where the frame
/// of the first of them will be.
[[gnu::noinline]] void leave_on_stack(hidden block) {
  std::array<void* volatile, words> left;
  for (std::size_t each = 0; each < words; ++each) {
    left[each] = each < words - words_first ? block.shown() : nullptr;
  }
}

hidden make_block(std::size_t bytes) {
  hidden block;
  elsewhere([&] {
    block = hidden{heapwise_gc_malloc(bytes)};
    for (int each = 0; each < 10; ++each) static_cast<void>(heapwise_gc_malloc(bytes));
    gc_test::leave_windows();
  });
  return block;
}

/// Effects: allocates until a collection came, with the address on the unused stack before each
/// allocation.
[[gnu::noinline]] void allocate_until_collected(hidden block, std::size_t bytes) {
  const std::size_t before = statistics().collections;
  for (int each = 0; each < 1'000'000 && statistics().collections == before; ++each) {
    leave_on_stack(block);
    static_cast<void>(heapwise_gc_malloc_atomic(bytes));
  }
  REQUIRE(statistics().collections > before);
}

} // namespace

TEST_CASE("an address on the unused stack keeps no block through an allocation that collects") {
  REQUIRE(heapwise_gc_init(nullptr) == 0);
  for (const std::size_t bytes : {std::size_t{1024}, std::size_t{1} << 20}) {
    const hidden block = make_block(48);
    allocate_until_collected(block, bytes);
    CHECK_FALSE(survived(block));
  }
}

TEST_CASE("an address on the unused stack keeps no block through a collection that is asked for") {
  REQUIRE(heapwise_gc_init(nullptr) == 0);
  const hidden block = make_block(48);
  leave_on_stack(block);
  heapwise_gc_collect();
  CHECK_FALSE(survived(block));
}
