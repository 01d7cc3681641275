// The longest single calls of a thread, told apart from the time in which it did not run.
#pragma once

#include <sys/resource.h>
#include <time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "harness/escape.hpp"
#include "harness/histogram.hpp"
#include "kernel/clock.hpp"
#include "kernel/spin.hpp"
#include "kernel/ticks.hpp"

namespace heaps {

/// Durations of the calls of one thread, in nanoseconds.
///
/// The clock that is read around each call goes on while the scheduler runs another thread. The
/// clock of the thread's own processor time stops then, but reading it takes longer than a call of
/// malloc. So it is read once for 16 calls. If the thread stood still for a part of that time, and
/// waited for nothing (a lock, the kernel), that part is taken off the longest call among the 16.
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
    long_count_ = 0;
    settle();
  }

  /// To be called before and after calls that other work of the thread surrounds: what the thread
  /// waited for there is nothing to the calls.
  void settle() noexcept {
    end_group();
    voluntary_switches_ = voluntary_switches();
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
  /// Groups of calls in which the thread waited for something, and nothing was taken off.
  [[nodiscard]] std::uint64_t waited() const noexcept { return waited_; }

 private:
  static constexpr std::size_t calls_each = 16;
  static constexpr double long_ns = 5000;

  struct long_call {
    std::uint64_t ticks;
    durations* into;
  };

  [[gnu::always_inline]] void add(durations& into, std::uint64_t ticks) noexcept {
    if (ticks < long_ticks_) [[likely]] {
      into.record(ticks);
    } else {
      long_calls_[long_count_++] = {ticks, &into};
    }
    if (++calls_ == calls_each) [[unlikely]]
      end_group();
  }

  [[gnu::noinline]] void end_group() noexcept {
    const std::uint64_t cpu_ns = thread_cpu_ns();
    const std::uint64_t ticks = heapwise::bench::now_ticks();
    if (long_count_ != 0) {
      record_long_calls(ns(ticks - start_ticks_) - static_cast<double>(cpu_ns - start_cpu_ns_));
    }
    start_cpu_ns_ = cpu_ns;
    start_ticks_ = ticks;
    calls_ = 0;
  }

  /// `still_ns`: how long the thread did not run since the last group of calls.
  [[gnu::noinline]] void record_long_calls(double still_ns) noexcept {
    const std::int64_t switches = voluntary_switches();
    const bool waited = switches != voluntary_switches_;
    voluntary_switches_ = switches;
    std::uint64_t still = still_ns < 0 ? 0 : ticks_of(still_ns);
    if (waited) waited_ += still >= long_ticks_ ? 1 : 0;
    if (waited) still = 0;
    const std::span calls = std::span{long_calls_}.first(long_count_);
    std::ranges::sort(calls, std::greater<>{}, &long_call::ticks);
    for (const long_call& each : calls) {
      const std::uint64_t taken_off = std::min(still, each.ticks);
      each.into->record(each.ticks - taken_off);
      still -= taken_off;
      interrupted_ += taken_off >= long_ticks_ ? 1 : 0;
    }
    long_count_ = 0;
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
  std::array<long_call, calls_each> long_calls_{};
  std::size_t long_count_ = 0;
  std::size_t calls_ = 0;
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
