// The longest single calls of a thread, told apart from the time in which it did not run.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "harness/escape.hpp"
#include "harness/histogram.hpp"
#include "kernel/clock.hpp"
#include "kernel/spin.hpp"
#include "kernel/ticks.hpp"

namespace heaps {

/// Durations of the calls of one thread, in ticks.
///
/// The clock that is read around each call goes on while the scheduler runs another thread. The
/// clock of the thread's own processor time stops then, but reading it takes longer than a call of
/// malloc. So it is read once for 16 calls, and after each long one. What the thread stood still
/// between the two readings is taken off the long call, unless the thread waited for something by
/// itself: a lock, or the kernel.
class own_time_log {
 public:
  using durations = heapwise::bench::histogram<8>;

  /// Takes some milliseconds, in which the rates of the clocks are compared.
  own_time_log() noexcept {
    constexpr double comparing_ns = 5e6;
    const heapwise::bench::tick_scale learning;
    heapwise::bench::spin_for_ns(comparing_ns);
    ns_per_tick_ = learning.ns_per_tick();
    long_ticks_ = ticks_of(long_ns);
    restart();
  }

  /// Forgets all calls.
  void restart() noexcept {
    allocations_.clear();
    frees_.clear();
    interrupted_ = 0;
    waited_ = 0;
    resume();
  }

  /// To be called before calls that follow other work of the thread: what stopped the thread there
  /// is nothing to the calls.
  void resume() noexcept {
    voluntary_switches_ = voluntary_switches();
    start_group();
  }

  [[gnu::always_inline]] void allocated(std::uint64_t ticks) noexcept { add(allocations_, ticks); }
  [[gnu::always_inline]] void freed(std::uint64_t ticks) noexcept { add(frees_, ticks); }

  [[nodiscard]] const durations& allocations() const noexcept { return allocations_; }
  [[nodiscard]] const durations& frees() const noexcept { return frees_; }
  [[nodiscard]] double ns(std::uint64_t ticks) const noexcept {
    return ns_per_tick_ * static_cast<double>(ticks);
  }
  /// Calls from which time was taken off.
  [[nodiscard]] std::uint64_t interrupted() const noexcept { return interrupted_; }
  /// Calls in which the thread stood still, and waited for something: nothing was taken off.
  [[nodiscard]] std::uint64_t waited() const noexcept { return waited_; }

 private:
  static constexpr unsigned calls_each = 16;
  static constexpr double long_ns = 5000;

  [[gnu::always_inline]] void add(durations& into, std::uint64_t ticks) noexcept {
    if (ticks >= long_ticks_) [[unlikely]] {
      into.record(own_time_of(ticks));
      start_group();
      return;
    }
    into.record(ticks);
    if (++calls_ == calls_each) [[unlikely]]
      start_group();
  }

  // The two clocks are read in such an order that what falls between the readings lies outside of
  // the group, both at its start and at its end.

  [[gnu::noinline]] void start_group() noexcept {
    calls_ = 0;
    start_cpu_ns_ = thread_cpu_ns();
    start_ticks_ = heapwise::bench::now_ticks();
  }

  /// Of the call that just ended.
  [[gnu::noinline]] std::uint64_t own_time_of(std::uint64_t ticks) noexcept {
    const std::uint64_t group_ticks = heapwise::bench::now_ticks() - start_ticks_;
    const std::uint64_t cpu_ticks = ticks_of(static_cast<double>(thread_cpu_ns() - start_cpu_ns_));
    const std::uint64_t still = std::min(ticks, group_ticks - std::min(group_ticks, cpu_ticks));
    const std::int64_t switches = voluntary_switches();
    const bool waited = switches != voluntary_switches_;
    voluntary_switches_ = switches;
    if (still >= long_ticks_) ++(waited ? waited_ : interrupted_);
    return waited ? ticks : ticks - still;
  }

  [[nodiscard]] std::uint64_t ticks_of(double ns) const noexcept {
    return static_cast<std::uint64_t>(ns / ns_per_tick_);
  }

  /// How often the thread began to wait for something.
  static std::int64_t voluntary_switches() noexcept {
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return usage.ru_nvcsw;
  }

  static std::uint64_t thread_cpu_ns() noexcept {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
           static_cast<std::uint64_t>(time.tv_nsec);
  }

  durations allocations_;
  durations frees_;
  unsigned calls_ = 0;
  std::uint64_t interrupted_ = 0;
  std::uint64_t waited_ = 0;
  double ns_per_tick_ = 1;
  std::uint64_t long_ticks_ = 0;
  std::uint64_t start_ticks_ = 0;
  std::uint64_t start_cpu_ns_ = 0;
  std::int64_t voluntary_switches_ = 0;
};

/// A source that writes down how long each of its calls took.
template <class Source>
class timed_source {
 public:
  explicit timed_source(own_time_log& log) noexcept : log_{&log} {}

  [[gnu::always_inline]] void* allocate(std::size_t bytes) {
    const std::uint64_t start = heapwise::bench::now_ticks();
    void* const block = source_.allocate(bytes);
    heapwise::bench::escape(block);
    log_->allocated(heapwise::bench::now_ticks() - start);
    return block;
  }

  [[gnu::always_inline]] void deallocate(void* block, std::size_t bytes) {
    const std::uint64_t start = heapwise::bench::now_ticks();
    source_.deallocate(block, bytes);
    heapwise::bench::clobber();
    log_->freed(heapwise::bench::now_ticks() - start);
  }

 private:
  Source source_;
  own_time_log* log_;
};

} // namespace heaps
