#include "harness/sample.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <ctime>
#include <string_view>
#include <thread>

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

TEST_CASE("processor time is that of all threads, of those too that the work starts for itself") {
  constexpr std::uint64_t burnt_ns = 2'000'000;
  const auto burn = [] {
    const auto cpu_ns = [] {
      timespec time{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
      return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
             static_cast<std::uint64_t>(time.tv_nsec);
    };
    for (const std::uint64_t start = cpu_ns(); cpu_ns() - start < burnt_ns;) {
    }
  };
  sample alone{question, 0};
  alone.measure(1, [&] { std::thread{burn}.join(); });
  CHECK(alone.processor_ns() >= burnt_ns);

  sample team{question, 0};
  team.measure_team(2, 1, [&](team_member& member) {
    member.start();
    burn();
    member.stop();
  });
  CHECK(team.processor_ns() >= 2 * burnt_ns);
}

TEST_CASE("threads that count their own operations are asked when all have ended") {
  constexpr int threads = 3;
  std::atomic<std::uint64_t> done{0};
  sample counted{question, 0};
  counted.measure_team(
      threads, [&done] { return done.load(); },
      [&done](team_member& member) {
        member.start();
        member.stop();
        done += 100;
      });
  char text[2000];
  json_line line{text, sizeof text};
  counted.write(line, {1, 2, 3, 4, 5});
  CHECK(std::string_view{text, sizeof text}.find("\"operations\":300,") < sizeof text);
  CHECK(std::string_view{text, sizeof text}.find("\"breadth_after_ns\":4,\"waited_ns\":5") <
        sizeof text);
}
