// What reading a clock costs: the ways of C++, of POSIX, of the kernel and of the processor.
//
// build: aligned_loops
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <ctime>

#include "harness/experiment.hpp"
#include "harness/rate.hpp"
#include "kernel/ticks.hpp"

namespace {

using namespace heapwise::bench;

std::uint64_t in_ns(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

template <class Clock>
std::uint64_t chrono() {
  const auto since = Clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

template <clockid_t clock>
std::uint64_t posix() {
  timespec time;
  clock_gettime(clock, &time);
  return in_ns(time);
}

std::uint64_t system_call() {
  timespec time;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &time);
  return in_ns(time);
}

std::uint64_t of_day() {
  timeval time;
  gettimeofday(&time, nullptr);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_usec) * 1000U;
}

/// May a clock be set back while we look, and does it count nanoseconds?
enum class nature { steady, may_be_set, ticks };

/// The clock went on, never back, and by as much as the clock of the harness; one that may be set
/// while we look, or that counts something else, only has to have moved.
bool plausible(nature is, std::uint64_t went_on, std::uint64_t backwards,
               std::uint64_t elapsed_ns) {
  constexpr std::uint64_t coarsest_ns = 10'000'000; // a tick of a kernel with 100 of them a second
  if (is != nature::steady) return went_on != 0;
  return backwards == 0 && went_on <= elapsed_ns + coarsest_ns &&
         went_on + coarsest_ns >= elapsed_ns / 10 * 9;
}

template <std::uint64_t (*now)(), nature is>
void measure(cell& the_cell) {
  const std::uint64_t readings = the_cell.size("readings");
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t first = 0;
    std::uint64_t last = 0;
    std::uint64_t backwards = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(readings, [&] {
      first = last = now();
      for (std::uint64_t i = 1; i < readings; ++i) {
        const std::uint64_t time = now();
        backwards += time < last ? 1 : 0;
        last = time;
      }
    });
    the_sample.set(rate_name, millions_per_second(readings, elapsed_ns));
    the_cell.check("work", plausible(is, last - first, backwards, elapsed_ns),
                   "went on by {} in {} ns, {} steps back", last - first, elapsed_ns, backwards);
  });
}

void measure_loop(cell& the_cell) {
  const std::uint64_t readings = 32 * the_cell.size("readings"); // or the clock would show
  measure_rate(the_cell, readings, readings, [&] {
    std::uint64_t done = 0;
    for (; done < readings; ++done) forget(done);
    return done;
  });
}

const experiment question{
    .id = "syscalls/clocks",
    .question = "What does it cost to ask for the time?",
    .isolates = "One reading after another of one clock, on one thread.",
    .not_shown =
        "How well a clock keeps time. Readings here overlap as far as a clock allows: "
        "`tick_counter` waits for what stands before it, as one has to for single calls, the "
        "kernel's clocks do so too on most processors. Where the kernel does not trust the "
        "processor's counter, all clocks become system calls and cost as much as `system_call`. "
        "`coarse` is the time of the kernel's last tick, some milliseconds old.",
    .parameters = {{"readings", "in the timed region", {200'000}, {10'000}, "", 2}},
    .quantities = {{rate_name, "M/s", better::higher, "an item is one reading"}, processor_time},
    .subjects = {{"steady_clock", "std::chrono::steady_clock",
                  measure<chrono<std::chrono::steady_clock>, nature::steady>},
                 {"system_clock", "std::chrono::system_clock",
                  measure<chrono<std::chrono::system_clock>, nature::may_be_set>},
                 {"clock_gettime", "clock_gettime, CLOCK_MONOTONIC",
                  measure<posix<CLOCK_MONOTONIC>, nature::steady>},
                 {"gettimeofday", "gettimeofday", measure<of_day, nature::may_be_set>},
                 {"coarse", "clock_gettime, CLOCK_MONOTONIC_COARSE",
                  measure<posix<CLOCK_MONOTONIC_COARSE>, nature::steady>},
                 {"system_call", "clock_gettime as a system call",
                  measure<system_call, nature::steady>},
                 {"tick_counter", "the processor's counter, in order",
                  measure<now_ticks, nature::ticks>},
                 {"empty_loop", "a loop of as many steps, nothing in it", measure_loop}},
    .baseline = "clock_gettime",
    .expectations = {{.says = "a reading without a system call is at least 1.5 times as fast",
                      .quantity = rate_name,
                      .subject = "clock_gettime",
                      .over = "system_call",
                      .at_least = 1.5},
                     {.says = "std::chrono::steady_clock adds next to nothing to clock_gettime",
                      .quantity = rate_name,
                      .subject = "steady_clock",
                      .over = "clock_gettime",
                      .at_least = 0.85,
                      .at_most = 1.15}},
    .answers = {{.quantity = "throughput", .subject = "clock_gettime", .over = "system_call"},
                {.quantity = "throughput", .subject = "steady_clock", .over = "clock_gettime"},
                {.quantity = "throughput", .subject = "coarse", .over = "clock_gettime"}},
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
