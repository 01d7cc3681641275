// What the program is told while a collection runs.
#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <unistd.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::statistics;
using heapwise::gc::the_gc;

namespace {

constexpr std::size_t kinds_of_events = HEAPWISE_GC_COLLECTION_ENDS + 1;

void* volatile always_live; // an empty heap is not worth a copy

/// Written by the thread that collects, with the collector's lock held.
struct seen_events {
  std::array<heapwise_gc_event, 64> in_order{};
  std::size_t count = 0; // of all, also of those for which there is no room
  std::array<std::size_t, kinds_of_events> of_kind{};
  std::size_t marked_beside = 0; // how often marking ended while the world went on
  bool world_as_told = true;
};

bool world_stands_still() { return the_gc.epoch.load() % 2 == 1; }

void note(heapwise_gc_event event, void* argument) {
  auto& into = *static_cast<seen_events*>(argument);
  if (into.count < into.in_order.size()) into.in_order[into.count] = event;
  ++into.count;
  ++into.of_kind[event];
  const bool marks = event == HEAPWISE_GC_MARKING_ENDS;
  if (marks && !world_stands_still()) ++into.marked_beside;
  const bool stopped = event == HEAPWISE_GC_WORLD_STOPPED || event == HEAPWISE_GC_MARKING_BEGINS ||
                       event == HEAPWISE_GC_WORLD_RESUMES;
  if (!marks && world_stands_still() != stopped) into.world_as_told = false;
}

std::vector<heapwise_gc_event> list_of(const seen_events& events) {
  return {events.in_order.begin(), events.in_order.begin() + events.count};
}

/// A registered thread that waits until it is told to end.
class waiting_thread {
 public:
  waiting_thread() {
    while (number_ == 0) std::this_thread::yield();
  }
  waiting_thread(const waiting_thread&) = delete;
  waiting_thread& operator=(const waiting_thread&) = delete;
  ~waiting_thread() {
    over_ = true;
    over_.notify_one();
    thread_.join();
  }
  [[nodiscard]] int number() const { return number_; }

 private:
  std::atomic<int> number_{0};
  std::atomic<bool> over_{false};
  std::thread thread_{[this] {
    heapwise_gc_register_thread();
    number_ = ::gettid();
    over_.wait(false);
    heapwise_gc_unregister_thread();
  }};
};

struct seen_thread {
  int number;
  int stopped;
  bool operator==(const seen_thread&) const = default;
};

struct seen_threads {
  std::array<seen_thread, 16> in_order{};
  std::size_t count = 0;
  bool world_stood_still = true;
};

void note_thread(int thread, int stopped, void* argument) {
  auto& into = *static_cast<seen_threads*>(argument);
  if (into.count < into.in_order.size()) into.in_order[into.count] = {thread, stopped};
  ++into.count;
  into.world_stood_still = into.world_stood_still && world_stands_still();
}

} // namespace

TEST_CASE("a collection tells what it does, in order, until nobody wants to know") {
  heapwise_gc_init(nullptr);
  seen_events seen;
  heapwise_gc_on_event(note, &seen);
  heapwise_gc_collect();
  const std::vector<heapwise_gc_event> all{
      HEAPWISE_GC_COLLECTION_BEGINS, HEAPWISE_GC_WORLD_STOPS,  HEAPWISE_GC_WORLD_STOPPED,
      HEAPWISE_GC_MARKING_BEGINS,    HEAPWISE_GC_MARKING_ENDS, HEAPWISE_GC_WORLD_RESUMES,
      HEAPWISE_GC_WORLD_RESUMED,     HEAPWISE_GC_SWEEP_BEGINS, HEAPWISE_GC_SWEEP_ENDS,
      HEAPWISE_GC_COLLECTION_ENDS};
  CHECK(list_of(seen) == all);
  CHECK(seen.world_as_told);
  CHECK(seen.marked_beside == 0);
  heapwise_gc_on_event(nullptr, nullptr);
  heapwise_gc_collect();
  CHECK(seen.count == all.size());
}

TEST_CASE("a program that stops the world is told of it, and of no collection") {
  heapwise_gc_init(nullptr);
  seen_events seen;
  heapwise_gc_on_event(note, &seen);
  heapwise_gc_stop_world();
  heapwise_gc_stop_world();
  heapwise_gc_start_world();
  heapwise_gc_start_world();
  heapwise_gc_on_event(nullptr, nullptr);
  const std::vector<heapwise_gc_event> all{HEAPWISE_GC_WORLD_STOPS, HEAPWISE_GC_WORLD_STOPPED,
                                           HEAPWISE_GC_WORLD_RESUMES, HEAPWISE_GC_WORLD_RESUMED};
  CHECK(list_of(seen) == all);
}

TEST_CASE("each thread that is stopped is told, when it stands still and before it goes on" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  seen_threads seen;
  const waiting_thread first;
  const waiting_thread second;
  heapwise_gc_on_thread_event(note_thread, &seen);
  heapwise_gc_stop_world();
  heapwise_gc_start_world();
  heapwise_gc_on_thread_event(nullptr, nullptr);
  REQUIRE(seen.count == 4);
  std::vector<seen_thread> told{seen.in_order.begin(), seen.in_order.begin() + 4};
  const auto has = [&](const seen_thread& wanted) {
    return std::find(told.begin(), told.end(), wanted) != told.end();
  };
  CHECK(has({first.number(), 1}));
  CHECK(has({second.number(), 1}));
  CHECK(has({first.number(), 0}));
  CHECK(has({second.number(), 0}));
  CHECK(told[1].stopped == 1); // both, before one goes on
  CHECK(told[2].stopped == 0);
  CHECK(seen.world_stood_still);
  heapwise_gc_collect();
  CHECK(seen.count == 4);
}

TEST_CASE("a collection that marks in a copy ends its marking while the world goes on" *
          doctest::skip(HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED)) {
  heapwise_gc_options options{};
  options.concurrent_bytes = 1;
  heapwise_gc_init(&options);
  elsewhere([] { always_live = heapwise_gc_malloc(16); });
  heapwise_gc_collect();
  seen_events seen;
  const heapwise_gc_statistics before = statistics();
  heapwise_gc_on_event(note, &seen);
  for (int each = 0; each < 200'000; ++each) static_cast<void>(heapwise_gc_malloc(1024));
  heapwise_gc_collect(); // a copy that still marks is given up
  heapwise_gc_on_event(nullptr, nullptr);
  const heapwise_gc_statistics after = statistics();
  REQUIRE(after.concurrent_collections > before.concurrent_collections);
  CHECK(seen.of_kind[HEAPWISE_GC_SWEEP_ENDS] == after.collections - before.collections);
  CHECK(seen.marked_beside >= after.concurrent_collections - before.concurrent_collections);
  CHECK(seen.of_kind[HEAPWISE_GC_COLLECTION_BEGINS] == seen.of_kind[HEAPWISE_GC_COLLECTION_ENDS]);
  CHECK(seen.of_kind[HEAPWISE_GC_MARKING_BEGINS] == seen.of_kind[HEAPWISE_GC_MARKING_ENDS]);
  CHECK(seen.of_kind[HEAPWISE_GC_WORLD_STOPPED] == seen.of_kind[HEAPWISE_GC_WORLD_RESUMES]);
  CHECK(seen.world_as_told);
}
