#include <heapwise/hybrid/classes.hpp>

#include <cstddef>

#include <doctest/doctest.h>

namespace {

using heapwise::strategy;
using namespace heapwise::detail::hybrids::routing;

TEST_CASE("every size goes where the table says") {
  struct row {
    std::size_t size;
    std::size_t bytes; ///< of the block; 0: best fit
  };
  for (const row& each :
       {row{0, 32}, row{1, 32}, row{32, 32}, row{33, 128}, row{128, 128}, row{129, 256},
        row{256, 256}, row{257, 512}, row{512, 512}, row{513, 1024}, row{1024, 1024},
        row{1025, 2048}, row{4096, 4096}, row{4097, 0}, row{static_cast<std::size_t>(-1), 0}}) {
    CAPTURE(each.size);
    const std::size_t class_index = class_of(each.size, 1, strategy::automatic);
    CHECK((class_index == best_fit ? 0 : block_bytes[class_index]) == each.bytes);
    if (each.size <= 256) {
      CHECK(class_index < slab_count);
      CHECK(server_of(class_index) == 0);
    } else if (each.size <= 4096) {
      CHECK(server_of(class_index) == 1);
    } else {
      CHECK(server_of(class_index) == 2);
    }
  }
}

TEST_CASE("a strategy that is asked for gets the request, or the next one that can") {
  for (std::size_t size = 0; size < 5000; ++size) {
    CAPTURE(size);
    REQUIRE(class_of(size, 1, strategy::fixed) == class_of(size, 1, strategy::automatic));
    REQUIRE(class_of(size, 1, strategy::best_fit) == best_fit);
    const std::size_t listed = class_of(size, 1, strategy::segregated);
    if (size > 4096) {
      REQUIRE(listed == best_fit);
      continue;
    }
    REQUIRE(server_of(listed) == 1);
    REQUIRE(block_bytes[listed] >= size);
    REQUIRE((listed == slab_count || block_bytes[listed] < 2 * size));
  }
}

TEST_CASE("an alignment is a size that the block must have") {
  for (std::size_t alignment = 1; alignment <= 4096; alignment *= 2) {
    for (std::size_t size = 0; size < 5000; size += 7) {
      for (const strategy how : {strategy::automatic, strategy::segregated}) {
        const std::size_t class_index = class_of(size, alignment, how);
        if (class_index == best_fit) continue;
        REQUIRE(block_bytes[class_index] % alignment == 0);
      }
    }
  }
  CHECK(class_of(1, 8192, strategy::automatic) == best_fit);
}

} // namespace
