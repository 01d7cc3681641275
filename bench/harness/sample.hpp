// One repeat: the timed regions of a subject and what they yield.
#pragma once

#include <sched.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/escape.hpp"
#include "harness/team.hpp"
#include "kernel/clock.hpp"
#include "kernel/cpu_list.hpp"

namespace heapwise::bench {

struct experiment;

/// What the kernel counted for this process so far.
struct kernel_counts {
  std::int64_t minor_faults = 0;
  std::int64_t involuntary_switches = 0;

  static kernel_counts now() noexcept;
};

/// What the processor took for known work right before a repeat and right after it.
struct surroundings {
  std::uint64_t spin_before_ns; ///< of a chain: does it keep its speed?
  std::uint64_t spin_after_ns;
  std::uint64_t breadth_before_ns; ///< of chains side by side: does somebody share the core?
  std::uint64_t breadth_after_ns;
  std::uint64_t waited_ns; ///< for a core of our own, before the repeat
};

class sample {
 public:
  static constexpr std::size_t most_quantities = 32;

  /// plant_ns is added to every operation of every region: a self-test must find it again.
  sample(const experiment& question, int repeat, double plant_ns = 0.0) noexcept
      : question_{&question}, repeat_{repeat}, plant_ns_{plant_ns} {}

  [[nodiscard]] int repeat() const noexcept { return repeat_; }

  /// Times `work` once; the quantity's value is nanoseconds per operation.
  template <class Work>
  void time(std::string_view quantity, std::uint64_t operations, Work&& work) {
    set(quantity, per_operation(measure(operations, work), operations));
  }

  /// Times `work` once as part of the repeat, without a quantity of its own; returns nanoseconds.
  template <class Work>
  std::uint64_t measure(std::uint64_t operations, Work&& work) {
    saw_cpu();
    const kernel_counts before = kernel_counts::now();
    const std::uint64_t start_cpu_ns = process_cpu_ns();
    clobber();
    const std::uint64_t start_ns = now_ns();
    work();
    clobber();
    if (plant_ns_ > 0) plant(operations);
    const std::uint64_t elapsed_ns = now_ns() - start_ns;
    processor_ns_ += process_cpu_ns() - start_cpu_ns;
    add_region(elapsed_ns, operations, before);
    saw_cpu();
    return elapsed_ns;
  }

  /// Runs `body(member)` on this many threads; see team.hpp. The quantity's value is wall time from
  /// the first start to the last stop over the operations of all threads.
  template <class Body>
  void time_team(std::string_view quantity, int threads, std::uint64_t operations, Body&& body) {
    set(quantity, per_operation(measure_team(threads, operations, body), operations));
  }

  /// The same without a quantity of its own; returns that wall time in nanoseconds.
  template <class Body>
  std::uint64_t measure_team(int threads, std::uint64_t operations, Body&& body) {
    return measure_team(threads, [operations] { return operations; }, body);
  }

  /// The same where only the threads find out how many operations they get done:
  /// `operations()` is asked after they ended.
  template <std::invocable Operations, class Body>
  std::uint64_t measure_team(int threads, Operations&& operations, Body&& body) {
    const kernel_counts before = kernel_counts::now();
    team_time time = run_team(threads, body);
    if (plant_ns_ > 0) time.wall_ns += plant(operations());
    processor_ns_ += time.processor_ns;
    add_region(time.wall_ns, operations(), before);
    cpus_.add(time.cpus);
    threads_ = threads;
    return time.wall_ns;
  }

  /// Processor time of all regions so far, of every thread that the process had meanwhile: also of
  /// those that a subject starts for itself, to do elsewhere what is not timed then.
  [[nodiscard]] std::uint64_t processor_ns() const noexcept { return processor_ns_; }

  /// Sets the quantity `processor_time`, in nanoseconds per operation. If an experiment declares
  /// the quantity and does not set it, it is that of all regions over all their operations.
  void set_processor_time(std::uint64_t operations) {
    set("processor_time", per_operation(processor_ns_, operations));
  }

  /// Sets a quantity's value in the unit that the experiment declares for it.
  void set(std::string_view quantity, double figure) noexcept;

  /// Writes the sample's line.
  void write(json_line& line, const surroundings& around) const;

  /// True if every quantity that the experiment declares has a value.
  [[nodiscard]] bool complete() const noexcept;
  /// True if no thread was seen on a processor that the process may not use.
  [[nodiscard]] bool kept_to(const cpu_list& allowed) const noexcept;

 private:
  static double per_operation(std::uint64_t elapsed_ns, std::uint64_t operations) noexcept {
    return static_cast<double>(elapsed_ns) / static_cast<double>(operations);
  }

  /// Spends the planted time of this many operations; returns the nanoseconds that it took.
  std::uint64_t plant(std::uint64_t operations) const noexcept;

  void saw_cpu() noexcept { cpus_.insert_current(); }
  void add_region(std::uint64_t elapsed_ns, std::uint64_t operations,
                  const kernel_counts& before) noexcept;
  void write_facts(json_line& line) const;

  const experiment* question_;
  int repeat_;
  double plant_ns_;
  int threads_ = 1;
  double values_[most_quantities] = {};
  bool known_[most_quantities] = {};
  std::uint64_t elapsed_ns_ = 0;
  std::uint64_t processor_ns_ = 0;
  std::uint64_t shortest_region_ns_ = UINT64_MAX;
  std::uint64_t operations_ = 0;
  kernel_counts counted_;
  cpu_list cpus_;
};

} // namespace heapwise::bench
