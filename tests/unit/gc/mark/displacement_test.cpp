// Addresses inside of blocks that count because the program said so.
#include <array>
#include <cerrno>
#include <cstddef>
#include <initializer_list>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::survived;

namespace {

char* volatile the_address; // a root

/// Returns: whether a block of `size` lives by the address `behind` its first byte alone.
bool lives(std::size_t size, std::size_t behind) {
  hidden block;
  elsewhere([&] {
    auto* const memory = static_cast<char*>(heapwise_gc_malloc(size));
    block = hidden{memory};
    the_address = memory + behind;
    const int others = size < 4096 ? 500 : 20; // more than a window
    for (int each = 0; each < others; ++each) static_cast<void>(heapwise_gc_malloc(size));
  });
  heapwise_gc_collect();
  return survived(block);
}

constexpr std::array<std::size_t, 4> sizes{16, 48, 5000, 200'000};

} // namespace

TEST_CASE("an address with a displacement that was added counts, and others do not") {
  heapwise_gc_init(nullptr);
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    CHECK(lives(size, 0));
    CHECK_FALSE(lives(size, 3));
  }
  CHECK(heapwise_gc_add_displacement(3) == 0);
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    CHECK(lives(size, 3));
    CHECK(lives(size, 0));
    CHECK_FALSE(lives(size, 2));
    CHECK_FALSE(lives(size, 4));
  }
  CHECK(heapwise_gc_add_displacement(4095) == 0);
  CHECK_FALSE(lives(48, 4095 % 48));
  CHECK(lives(5000, 4095));
  CHECK(lives(200'000, 4095));
}

TEST_CASE("a block that is found by a displacement is looked through") {
  heapwise_gc_init(nullptr);
  CHECK(heapwise_gc_add_displacement(1) == 0);
  for (const std::size_t size : sizes) {
    CAPTURE(size);
    hidden below;
    elsewhere([&] {
      auto** const block = static_cast<void**>(heapwise_gc_malloc(size));
      block[1] = heapwise_gc_malloc(64);
      below = hidden{block[1]};
      the_address = reinterpret_cast<char*>(block) + 1;
      for (int each = 0; each < 500; ++each) static_cast<void>(heapwise_gc_malloc(64));
    });
    heapwise_gc_collect();
    CHECK(survived(below));
  }
}

TEST_CASE("a displacement is less than 4096 bytes") {
  CHECK(heapwise_gc_add_displacement(4096) == EINVAL);
}
