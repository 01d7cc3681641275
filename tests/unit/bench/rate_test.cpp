#include "harness/rate.hpp"

#include <doctest/doctest.h>

using namespace heapwise::bench;

TEST_CASE("rates are in millions and in GiB of a second") {
  CHECK(millions_per_second(1'000'000, 1'000'000'000) == doctest::Approx(1.0));
  CHECK(millions_per_second(3, 1) == doctest::Approx(3000.0));
  CHECK(gib_per_second(std::uint64_t{1} << 30, 1'000'000'000) == doctest::Approx(1.0));
  CHECK(gib_per_second(std::uint64_t{8} << 30, 2'000'000'000) == doctest::Approx(4.0));
}
