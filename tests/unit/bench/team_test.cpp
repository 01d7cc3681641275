#include "harness/team.hpp"

#include <doctest/doctest.h>

#include <atomic>

using namespace heapwise::bench;

TEST_CASE("no thread starts before all have arrived, and every one runs once") {
  constexpr int threads = 8;
  std::atomic<int> arrived{0};
  std::atomic<int> early{0};
  std::atomic<int> indices{0};
  const team_time time = run_team(threads, [&](team_member& member) {
    ++arrived;
    member.start();
    if (arrived != threads) ++early;
    indices += 1 << member.index();
    member.stop();
  });
  CHECK(early == 0);
  CHECK(indices == (1 << threads) - 1);
  CHECK(time.cpus.size() >= 1);
  CHECK(time.cpus.within(cpu_list::of_this_thread()));
}

TEST_CASE("what happens before start and after stop is not in the wall time") {
  const auto wait_ns = [](std::uint64_t nanoseconds) {
    const std::uint64_t until = now_ns() + nanoseconds;
    while (now_ns() < until) {
    }
  };
  const std::uint64_t before = now_ns();
  const team_time time = run_team(1, [&](team_member& member) {
    wait_ns(20'000'000);
    member.start();
    wait_ns(1'000'000);
    member.stop();
    wait_ns(20'000'000);
  });
  // No limit on how long anything takes: only that the waits outside are not part of it.
  CHECK(time.wall_ns >= 1'000'000);
  CHECK(time.wall_ns + 40'000'000 <= now_ns() - before);
}
