// One counter for all threads: behind a lock, or by itself.
//
// build: with_sanitizers
#include <atomic>
#include <mutex>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "sources/contest.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

class locked_counter {
 public:
  void add() {
    const std::scoped_lock lock{mutex_};
    ++count_;
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }

 private:
  alignas(64) std::mutex mutex_;
  std::uint64_t count_ = 0;
};

class atomic_counter {
 public:
  void add() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(); }

 private:
  alignas(64) std::atomic<std::uint64_t> count_{0};
};

/// What a compare-and-swap costs where fetch_add would do: it can fail, and then asks again.
class swapped_counter {
 public:
  void add() noexcept {
    std::uint64_t seen = count_.load(std::memory_order_relaxed);
    while (!count_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed)) {
    }
  }
  [[nodiscard]] std::uint64_t count() const noexcept { return count_.load(); }

 private:
  alignas(64) std::atomic<std::uint64_t> count_{0};
};

template <class Counter>
void measure(cell& the_cell) {
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const processors where{the_cell, 1};
  the_cell.each_repeat([&](sample& the_sample) {
    Counter counter;
    escape(&counter);
    const contest_result done = run_contest(the_cell, the_sample, where, threads, [&counter](int) {
      return [&counter] { counter.add(); };
    });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", counter.count() == done.steps, "the counter says {} after {} additions",
                   counter.count(), done.steps);
  });
}

void measure_empty_loop(cell& the_cell) {
  const auto threads = static_cast<int>(the_cell.integer("threads"));
  const processors where{the_cell, 1};
  the_cell.each_repeat([&](sample& the_sample) {
    const contest_result done = run_contest(the_cell, the_sample, where, threads,
                                            [](int index) { return [index] { keep(index); }; });
    the_sample.set("throughput", done.throughput());
    the_cell.check("work", done.steps != 0, "{} turns without an addition", done.steps);
  });
}

const experiment question{
    .id = "concurrency/mutex_vs_atomic",
    .question = "What does one shared counter cost behind a mutex, and what as an atomic?",
    .isolates =
        "The fight for one line: all threads add to the same counter and do nothing else, each "
        "kept on a processor, in turn where there are more threads.",
    .not_shown =
        "Longer critical sections (concurrency/lock_variants), fairness between the threads, "
        "counters kept apart (concurrency/false_sharing). The figure is that of all threads "
        "together: perfect scaling would multiply it. More threads than processors never fight "
        "more than the processors do, as only as many run at once as there are processors: on two "
        "processors four threads "
        "are no harder than two for an atomic, and the mutex gains where its waiters sleep. The "
        "four threads of the report latency-lab ran on eight cores.",
    .parameters = {{"threads", "threads at once", {1, 2, 4}, {1, 2}}, duration(12)},
    .quantities = {throughput("additions of all threads")},
    .subjects = {{"mutex", "std::mutex round a plain counter", measure<locked_counter>},
                 {"atomic", "std::atomic, fetch_add, relaxed", measure<atomic_counter>},
                 {"compare_and_swap", "std::atomic, compare_exchange until it holds",
                  measure<swapped_counter>},
                 {"empty_loop", "the loop without an addition", measure_empty_loop}},
    .baseline = "atomic",
    .expectations = {{.says = "an atomic is faster than a mutex that guards only a counter",
                      .quantity = "throughput",
                      .subject = "atomic",
                      .over = "mutex",
                      .at_least = 1.0},
                     {.says = "two threads on one counter get less done than one alone",
                      .quantity = "throughput",
                      .subject = "atomic",
                      .over = "atomic",
                      .parameters = {{"threads", 2}},
                      .over_parameters = {{"threads", 1}},
                      .at_most = 1.0}},
    .answers = {{.quantity = "throughput", .subject = "mutex", .over = "atomic"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
