// What the collector says of its pauses.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <thread>

#include <doctest/doctest.h>
#include <pthread.h>

#include "gc/surroundings.hpp"

using gc_test::statistics;
using heapwise::gc::the_gc;

namespace {

constexpr auto late = std::chrono::milliseconds{20};
constexpr std::size_t late_ns = 20'000'000;

void block_stops(bool yes) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, the_gc.chosen.signal);
  ::pthread_sigmask(yes ? SIG_BLOCK : SIG_UNBLOCK, &signals, nullptr);
}

} // namespace

TEST_CASE("the time until a thread stands still belongs to the pause, and is told by itself" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  REQUIRE(heapwise_gc_init(nullptr) == 0);
  heapwise_gc_collect();
  const std::size_t pauses_before = statistics().total_pause_ns;
  std::atomic<bool> deaf{false};
  std::thread other{[&] {
    REQUIRE(heapwise_gc_register_thread() == 0);
    block_stops(true);
    deaf = true;
    while (the_gc.epoch.load() % 2 == 0) std::this_thread::yield(); // until it is asked to stop
    std::this_thread::sleep_for(late);
    block_stops(false);
    heapwise_gc_unregister_thread();
  }};
  while (!deaf) std::this_thread::yield();
  heapwise_gc_collect();
  other.join();
  const heapwise_gc_statistics told = statistics();
  CHECK(told.longest_stop_ns >= late_ns);
  CHECK(told.longest_pause_ns >= told.longest_stop_ns);
  CHECK(told.total_pause_ns - pauses_before >= told.longest_stop_ns);
}

TEST_CASE("a world without other threads stands still at once") {
  REQUIRE(heapwise_gc_init(nullptr) == 0);
  for (int each = 0; each < 10; ++each) heapwise_gc_collect();
  const heapwise_gc_statistics told = statistics();
  CHECK(told.longest_stop_ns > 0);
  CHECK(told.longest_stop_ns <= told.longest_pause_ns);
  CHECK(told.longest_pause_ns <= told.total_pause_ns);
}
