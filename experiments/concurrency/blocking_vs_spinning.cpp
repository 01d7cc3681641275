// Two threads by turns: how does the one learn that it is its turn?
//
// build: with_sanitizers
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <ctime>
#include <mutex>

#include "harness/escape.hpp"
#include "harness/experiment.hpp"
#include "sources/baton.hpp"
#include "sources/processors.hpp"
#include "sources/quantities.hpp"

namespace {

using namespace heapwise::bench;
using namespace concurrency;

using spinning = spin_baton<patience::apart, 1>;
using yielding = spin_baton<patience::none, 0>;

class condition_baton {
 public:
  void pass(std::uint32_t number) {
    {
      const std::scoped_lock lock{mutex_};
      number_ = number;
    }
    changed_.notify_one();
  }
  std::uint32_t wait_while(std::uint32_t old) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return number_ != old; });
    return number_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::uint32_t number_ = 0;
};

/// The kernel's own: asleep as long as the word holds the old number.
class futex_baton {
 public:
  void pass(std::uint32_t number) noexcept {
    number_.store(number, std::memory_order_release);
    constexpr int one_thread = 1;
    call(FUTEX_WAKE_PRIVATE, one_thread);
  }
  std::uint32_t wait_while(std::uint32_t old) noexcept {
    std::uint32_t now = number_.load(std::memory_order_acquire);
    for (; now == old; now = number_.load(std::memory_order_acquire)) call(FUTEX_WAIT_PRIVATE, old);
    return now;
  }

 private:
  void call(int what, std::uint32_t number) noexcept {
    syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&number_), what, number, nullptr, nullptr,
            0);
  }

  alignas(64) std::atomic<std::uint32_t> number_{0};
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
};

/// The standard library's: looks a while before it asks the kernel.
class atomic_wait_baton {
 public:
  void pass(std::uint32_t number) noexcept {
    number_.store(number, std::memory_order_release);
    number_.notify_one();
  }
  std::uint32_t wait_while(std::uint32_t old) noexcept {
    number_.wait(old, std::memory_order_acquire);
    return number_.load(std::memory_order_acquire);
  }

 private:
  alignas(64) std::atomic<std::uint32_t> number_{0};
};

[[nodiscard]] std::uint64_t processor_time_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

template <class Baton>
void measure(cell& the_cell) {
  constexpr int both = 2;
  const processors where{the_cell, both};
  the_cell.each_repeat([&](sample& the_sample) {
    Baton baton;
    escape(&baton);
    std::uint64_t handed_over = 0;
    std::uint64_t turns = 0;
    std::atomic<std::uint64_t> busy_ns{0};
    const std::uint64_t elapsed_ns = measure_placed(
        the_cell, the_sample, where, both, [&] { return handed_over; },
        [&](team_member& member) {
          const bool leads = member.index() == 0;
          const std::uint64_t before_ns = processor_time_ns();
          member.start();
          if (leads) {
            handed_over = lead(baton, member.start_ns() + duration_ns(the_cell));
          } else {
            turns = follow(baton);
          }
          member.stop();
          busy_ns += processor_time_ns() - before_ns;
        });
    the_sample.set("throughput", millions_per_second(handed_over, elapsed_ns));
    the_sample.set("processor_time",
                   static_cast<double>(busy_ns) / static_cast<double>(handed_over));
    the_cell.check("work", 2 * turns == handed_over, "{} hand-overs, {} turns of the follower",
                   handed_over, turns);
  });
}

const experiment question{
    .id = "concurrency/blocking_vs_spinning",
    .question = "What does a hand-over cost if the waiting thread spins, yields or sleeps?",
    .isolates =
        "The waiting: two threads on cores of their own have the turn alternately and do nothing "
        "with it.",
    .not_shown =
        "Waiting that is long: here the other thread is always about to answer, which is the best "
        "case for spinning and the worst for sleeping: a thread that sleeps spends more processor "
        "time on falling asleep and waking than one that spins spends on so short a wait. Sleeping "
        "saves processor time only if the wait is longer than that. What a spinning thread takes "
        "from others "
        "shows only in processor_time. A processor that has nothing to do falls asleep, and on a "
        "virtual machine waking it goes through the host: the sleepers' figures are as much the "
        "machine's as theirs. atomic_wait spins and yields before it sleeps, and the other thread "
        "mostly answers while it does.",
    .parameters = {duration(12)},
    .quantities = {throughput("hand-overs, both directions"),
                   {"processor_time", "ns/op", better::lower,
                    "what both threads together spend of their processors on a hand-over"}},
    .subjects = {{"spin", "looks again and again", measure<spinning>},
                 {"yield", "gives the processor away between two looks", measure<yielding>},
                 {"condition_variable", "std::condition_variable", measure<condition_baton>},
                 {"futex", "futex wait and wake", measure<futex_baton>},
                 {"atomic_wait", "std::atomic wait and notify_one", measure<atomic_wait_baton>}},
    .baseline = "spin",
    .repeats = 20,
    .expectations = {{.says = "spinning hands over at least five times as often as sleeping",
                      .quantity = "throughput",
                      .subject = "spin",
                      .over = "condition_variable",
                      .at_least = 5},
                     {.says = "a futex is no slower than a condition variable, which uses it",
                      .quantity = "throughput",
                      .subject = "futex",
                      .over = "condition_variable",
                      .at_least = 0.8}},
    .answers = {{.quantity = "throughput", .subject = "futex", .over = "spin"},
                {.quantity = "throughput", .subject = "yield", .over = "spin"},
                {.quantity = "processor_time", .subject = "futex", .over = "spin"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
