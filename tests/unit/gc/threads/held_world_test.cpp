// A world that the program stops by itself.
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::elsewhere;

namespace {

/// Registered threads that count as fast as they can. Every other one allocates meanwhile.
class counters {
 public:
  explicit counters(std::size_t threads) : counts_(threads) {
    for (std::size_t each = 0; each < threads; ++each) {
      threads_.emplace_back([this, each] { run(each); });
    }
    for (const std::atomic<std::size_t>& each : counts_) {
      while (each == 0) std::this_thread::yield();
    }
  }
  counters(const counters&) = delete;
  counters& operator=(const counters&) = delete;
  ~counters() {
    over_ = true;
    for (std::thread& each : threads_) each.join();
  }

  /// Returns: their sum. Allocates nothing.
  [[nodiscard]] std::size_t sum() const {
    std::size_t sum = 0;
    for (const std::atomic<std::size_t>& each : counts_) sum += each;
    return sum;
  }

  /// Effects: returns when all of them have gone on.
  void wait_for_progress() const {
    for (const std::atomic<std::size_t>& each : counts_) {
      const std::size_t before = each;
      while (each == before) std::this_thread::yield();
    }
  }

 private:
  void run(std::size_t number) {
    heapwise_gc_register_thread();
    while (!over_) {
      ++counts_[number];
      if (number % 2 != 0) static_cast<void>(heapwise_gc_malloc(1024));
    }
    heapwise_gc_unregister_thread();
  }

  std::vector<std::atomic<std::size_t>> counts_;
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

/// Returns: whether nobody counts for a while.
bool stand_still(const counters& threads) {
  const std::size_t before = threads.sum();
  const timespec pause{.tv_sec = 0, .tv_nsec = 2'000'000};
  for (int look = 0; look < 5; ++look) {
    ::nanosleep(&pause, nullptr);
    if (threads.sum() != before) return false;
  }
  return true;
}

} // namespace

TEST_CASE("threads stand still from stopping to starting the world, as often as it is stopped" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  const counters threads{4};
  for (int round = 0; round < 10; ++round) {
    REQUIRE(heapwise_gc_stop_world() == 0);
    const bool first = stand_still(threads);
    REQUIRE(heapwise_gc_stop_world() == 0);
    heapwise_gc_start_world();
    const bool nested = stand_still(threads);
    heapwise_gc_start_world();
    CHECK(first);
    CHECK(nested);
    threads.wait_for_progress();
  }
}

TEST_CASE("a thread that is not registered stops all those that are" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  const counters threads{3};
  bool still = false;
  std::thread{[&] {
    REQUIRE(heapwise_gc_stop_world() == 0);
    still = stand_still(threads);
    heapwise_gc_start_world();
  }}.join();
  CHECK(still);
  threads.wait_for_progress();
}

TEST_CASE("threads that stop the world wait for each other and for collections" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  const counters threads{2};
  std::atomic<int> holders{0};
  std::atomic<int> mistakes{0};
  std::vector<std::thread> stoppers;
  for (int each = 0; each < 3; ++each) {
    stoppers.emplace_back([&, registers = each > 0] {
      if (registers) heapwise_gc_register_thread();
      for (int round = 0; round < 100; ++round) {
        heapwise_gc_stop_world();
        if (++holders != 1) ++mistakes;
        --holders;
        heapwise_gc_start_world();
        if (registers) static_cast<void>(heapwise_gc_malloc(100));
      }
      if (registers) heapwise_gc_unregister_thread();
    });
  }
  for (int round = 0; round < 50; ++round) heapwise_gc_collect();
  for (std::thread& each : stoppers) each.join();
  CHECK(mistakes == 0);
  threads.wait_for_progress();
}

TEST_CASE("blocks can be looked at while the world stands still, and no pause is counted" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  auto* const block = static_cast<char*>(heapwise_gc_malloc(100));
  const std::size_t pauses_ns = gc_test::statistics().total_pause_ns;
  heapwise_gc_stop_world();
  const bool same = heapwise_gc_base(block + 50) == block;
  const std::size_t size = heapwise_gc_usable_size(block);
  heapwise_gc_start_world();
  CHECK(same);
  CHECK(size >= 100);
  CHECK(gc_test::statistics().total_pause_ns == pauses_ns);
  heapwise_gc_collect();
}

TEST_CASE("stopping the world starts the collector") {
  REQUIRE(heapwise_gc_stop_world() == 0);
  heapwise_gc_start_world();
  CHECK(heapwise_gc_malloc(16) != nullptr);
}

TEST_CASE("a copy of the process that was made meanwhile is a snapshot of the memory" *
          doctest::skip(HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED)) {
  heapwise_gc_init(nullptr);
  static std::atomic<std::size_t> left{0};
  static std::atomic<std::size_t> right{0};
  std::atomic<bool> over{false};
  std::thread other{[&] {
    heapwise_gc_register_thread();
    while (!over) right = ++left;
    heapwise_gc_unregister_thread();
  }};
  for (int round = 0; round < 20; ++round) {
    heapwise_gc_stop_world();
    const pid_t child = ::_Fork();
    if (child == 0) ::_exit(left - right <= 1 ? 0 : 1);
    heapwise_gc_start_world();
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(status == 0);
  }
  over = true;
  other.join();
}
