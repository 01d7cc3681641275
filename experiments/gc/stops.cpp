// How long a collection takes until all threads stand still.
//
// optional: COLLECTOR = target heapwise_gc_static
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <thread>
#include <vector>

#include "harness/experiment.hpp"
#include "kernel/clock.hpp"
#include "sources/memories.hpp"

namespace {

using namespace heapwise::bench;

/// Written by the thread that collects.
struct stop_times {
  std::uint64_t asked_at_ns = 0;
  std::uint64_t sum_ns = 0;
  std::uint64_t longest_ns = 0;
  std::size_t count = 0;

  void ask() noexcept { asked_at_ns = now_ns(); }
  void stopped() noexcept {
    const std::uint64_t stop_ns = now_ns() - asked_at_ns;
    sum_ns += stop_ns;
    longest_ns = std::max(longest_ns, stop_ns);
    ++count;
  }
};

constinit stop_times times; // the functions of Boehm's collector have no argument

struct ours : gcs::ours<1, 0> {
  static void watch() {
    heapwise_gc_on_event(
        [](heapwise_gc_event event, void*) {
          if (event == HEAPWISE_GC_WORLD_STOPS) times.ask();
          if (event == HEAPWISE_GC_WORLD_STOPPED) times.stopped();
        },
        nullptr);
  }
  static void collect() { heapwise_gc_collect(); }
};

#if defined(HEAPWISE_HAS_BOEHM)
struct boehm : gcs::boehm<1, false> {
  static void watch() {
    GC_set_on_collection_event([](GC_EventType event) {
      if (event == GC_EVENT_PRE_STOP_WORLD) times.ask();
      if (event == GC_EVENT_POST_STOP_WORLD) times.stopped();
    });
  }
  static void collect() { GC_gcollect(); }
};
#endif

/// Threads that are registered, and compute or sleep until they are told to end.
template <class Collector>
class other_threads {
 public:
  other_threads(std::size_t count, bool compute) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, compute] {
        Collector::in_thread([&] {
          ++ready_;
          while (!over_.load(std::memory_order_relaxed)) {
            if (!compute) std::this_thread::sleep_for(std::chrono::milliseconds{1});
          }
        });
      });
    }
    while (ready_ < count) std::this_thread::yield();
  }
  other_threads(const other_threads&) = delete;
  other_threads& operator=(const other_threads&) = delete;
  ~other_threads() {
    over_ = true;
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::atomic<std::size_t> ready_{0};
  std::atomic<bool> over_{false};
  std::vector<std::thread> threads_;
};

template <class Collector>
void measure(cell& the_cell) {
  const std::size_t collections = the_cell.size("collections");
  Collector::start();
  Collector::watch();
  the_cell.each_repeat([&](sample& the_sample) {
    const other_threads<Collector> others{the_cell.size("threads"),
                                          the_cell.text("others") == "compute"};
    times = {};
    the_sample.time("collection", collections, [&] {
      for (std::size_t i = 0; i < collections; ++i) Collector::collect();
    });
    const std::size_t stops = std::max<std::size_t>(times.count, 1);
    the_sample.set("stop", static_cast<double>(times.sum_ns) / static_cast<double>(stops));
    the_sample.set("longest_stop", static_cast<double>(times.longest_ns) * 1e-6);
    the_cell.check("work", times.count >= collections, "{} stops of {} collections", times.count,
                   collections);
  });
}

std::vector<subject> subjects() {
  std::vector<subject> all{{"heapwise_gc_1", "our collector, one marker", measure<ours>}};
#if defined(HEAPWISE_HAS_BOEHM)
  all.push_back({"boehm", "Boehm's collector, one marker", measure<boehm>});
#else
  all.push_back({"boehm", "Boehm's collector", nullptr,
                 "not in this build: install libgc-dev and build again"});
#endif
  return all;
}

const experiment question{
    .id = HEAPWISE_EXPERIMENT_ID,
    .question = "How long does a collector take until all threads stand still?",
    .isolates =
        "The time from asking all threads to stop until the last of them stands still, of "
        "collections that one thread asks for. The heap is nearly empty. Other threads compute, or "
        "sleep a millisecond at a time.",
    .not_shown =
        "Marking. Threads in long calls of the system. With more threads than processors, a "
        "thread that computes has to get a processor before it can stop: that is the system's "
        "time and not the collector's.",
    .parameters = {{"threads", "beside the one that collects", {1, 4, 16}, {2}},
                   {"others", "what these do", {"sleep", "compute"}, {"sleep", "compute"}},
                   {"collections", "in a repeat", {50}, {3}}},
    .quantities = {{"collection", "ns/op", better::lower, "one collection"},
                   {"stop", "ns/op", better::lower, "of a collection, until all stand still"},
                   {"longest_stop", "ms", better::lower, "the longest of a repeat"}},
    .subjects = subjects(),
    .baseline = "boehm",
    .repeats = 5,
    .answers = {{.quantity = "stop", .subject = "heapwise_gc_1", .over = "boehm"}},
    .work_parameters = {"threads", "others"},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
