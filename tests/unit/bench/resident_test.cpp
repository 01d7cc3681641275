#include "harness/memory/resident.hpp"

#include <doctest/doctest.h>

#include <cstddef>

#include "harness/memory/mapped_array.hpp"

using heapwise::bench::mapped_array;
using heapwise::bench::resident_meter;

namespace {

constexpr std::size_t known_bytes = 64 << 20;
constexpr double known = known_bytes;
constexpr double tolerance = 0.02; // what the laboratory allows for memory of known size

} // namespace

TEST_CASE("memory of known size is read as that, and no longer when it is gone") {
  resident_meter meter;
  CHECK(static_cast<double>(meter.now()) < tolerance * known);
  {
    const mapped_array<char> there{known_bytes};
    CHECK(static_cast<double>(meter.now()) == doctest::Approx(known).epsilon(tolerance));
  }
  CHECK(static_cast<double>(meter.now()) < tolerance * known);
  CHECK(meter.now() > 0);
}

TEST_CASE("the peak stays when the memory is gone, until it is forgotten") {
  resident_meter meter;
  {
    const mapped_array<char> there{known_bytes};
  }
  CHECK(static_cast<double>(meter.peak()) == doctest::Approx(known).epsilon(tolerance));
  meter.restart_peak();
  CHECK(static_cast<double>(meter.peak()) < tolerance * known);
}

TEST_CASE("memory from before the meter does not count") {
  const mapped_array<char> before{known_bytes};
  resident_meter meter;
  CHECK(static_cast<double>(meter.now()) < tolerance * known);
  CHECK(static_cast<double>(meter.peak()) < tolerance * known);
}

TEST_CASE("with the experiment's own tables named, all other memory from before counts") {
  const auto at_start = static_cast<double>(resident_meter{0}.now()); // a sanitizer's, above all
  const mapped_array<char> supply{known_bytes};
  const mapped_array<char> table{known_bytes};
  resident_meter meter{known_bytes};
  CHECK(static_cast<double>(meter.now()) - at_start == doctest::Approx(known).epsilon(tolerance));
  CHECK(static_cast<double>(meter.peak()) - at_start == doctest::Approx(known).epsilon(tolerance));
}
