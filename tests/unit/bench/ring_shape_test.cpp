#include "workload/ring_shape.hpp"

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::bench::ring_shape;

TEST_CASE("each ring has one producer and one consumer") {
  for (const char* name : {"one_to_one", "one_to_many", "many_to_one"}) {
    CAPTURE(name);
    const ring_shape shape = ring_shape::of(name);
    std::vector<int> filled(shape.rings());
    std::vector<int> emptied(shape.rings());
    for (std::size_t thread = 0; thread < static_cast<std::size_t>(shape.threads()); ++thread) {
      const ring_shape::part part = shape.part_of(thread);
      for (std::size_t i = part.first; i < part.last; ++i) ++(part.produces ? filled : emptied)[i];
    }
    CHECK(filled == std::vector<int>(shape.rings(), 1));
    CHECK(emptied == filled);
  }
}

TEST_CASE("the names are those of the parameter") {
  CHECK(ring_shape::of("one_to_one").threads() == 2);
  CHECK(ring_shape::of("one_to_many").consumers == 3);
  CHECK(ring_shape::of("many_to_one").producers == 3);
}

} // namespace
