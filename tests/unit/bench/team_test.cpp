#include "harness/team.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

using namespace heapwise::bench;

namespace {

std::atomic<bool> held{false};
std::atomic<bool> released{false};

/// Keeps the thread that it interrupts away from what it was waiting for.
void hold(int) {
  held = true;
  while (!released) heapwise::bench::pause();
}

} // namespace

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

TEST_CASE("work before start and after stop is not in the wall time") {
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

TEST_CASE("no thread leaves the line while another still has to wake up") {
  if (HEAPWISE_SKIP_STOPS || cpu_list::of_this_thread().size() < 2) return;
  struct sigaction action{};
  action.sa_handler = hold;
  struct sigaction before{};
  REQUIRE(sigaction(SIGUSR1, &action, &before) == 0);
  held = released = false;
  start_line line{2};
  std::atomic<bool> arrives{false};
  std::thread sleeper{[&] {
    arrives = true;
    line.arrive_and_wait();
  }};
  while (!arrives) heapwise::bench::pause();
  std::this_thread::sleep_for(std::chrono::milliseconds{20}); // until it sleeps, most likely
  pthread_kill(sleeper.native_handle(), SIGUSR1);
  while (!held) heapwise::bench::pause();
  std::thread waker{[] {
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    released = true;
  }};
  line.arrive_and_wait();
  CHECK(released);
  waker.join();
  sleeper.join();
  sigaction(SIGUSR1, &before, nullptr);
}
