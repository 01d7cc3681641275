#include "harness/fill_time.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using heapwise::bench::count_that_fills;
using heapwise::bench::now_ns;

namespace {

/// Returns once this much time has gone by.
void spend(std::uint64_t nanoseconds) {
  const std::uint64_t end_ns = now_ns() + nanoseconds;
  while (now_ns() < end_ns) {
  }
}

} // namespace

TEST_CASE("the count is never more than what fills the time, whatever else the machine does") {
  constexpr std::uint64_t each_ns = 10'000;
  constexpr std::uint64_t wanted_ns = 1'000'000;
  std::vector<std::size_t> tried;
  const std::size_t count = count_that_fills(wanted_ns, 2, [&](std::size_t asked) {
    tried.push_back(asked);
    spend(asked * each_ns);
  });
  CHECK(count >= 2);
  CHECK(count <= wanted_ns / each_ns);
  REQUIRE(!tried.empty());
  CHECK(tried.front() == 2);
  for (std::size_t i = 1; i < tried.size(); ++i) CHECK(tried[i] == 2 * tried[i - 1]);
}

TEST_CASE("work that takes longer than is wanted is done the least number of times") {
  CHECK(count_that_fills(1000, 3, [](std::size_t asked) { spend(asked * 1'000'000); }) == 3);
}
