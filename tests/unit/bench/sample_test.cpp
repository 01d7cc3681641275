#include "harness/sample.hpp"

#include <doctest/doctest.h>

#include "harness/experiment.hpp"

using namespace heapwise::bench;

namespace {

const experiment question{.id = "family/name",
                          .question = "?",
                          .isolates = "",
                          .not_shown = "",
                          .parameters = {},
                          .quantities = {{"q", "ns/op"}},
                          .subjects = {},
                          .baseline = ""};

constexpr std::uint64_t operations = 1000;
constexpr double plant_ns = 2000;
constexpr auto planted_ns = static_cast<std::uint64_t>(operations * plant_ns);

} // namespace

TEST_CASE("a planted cost is inside the region, once for each operation") {
  sample slowed{question, 0, plant_ns};
  CHECK(slowed.measure(operations, [] {}) >= planted_ns);
  const auto body = [](team_member& member) {
    member.start();
    member.stop();
  };
  CHECK(slowed.measure_team(2, operations, body) >= planted_ns);
}
