// A subject in one setting of the parameters: what a subject's function is given to work with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "harness/check_text.hpp"
#include "harness/random.hpp"
#include "harness/sample.hpp"
#include "kernel/breadth.hpp"
#include "kernel/spin.hpp"

namespace heapwise::bench {

struct options;

/// Thrown by cell::refuse: the system does not allow what the cell would measure.
struct refusal {
  std::string_view what;
  std::string_view reason;
};

class cell {
 public:
  cell(const experiment& question, const options& chosen);

  /// The value of a parameter; aborts if the experiment declares none of this name and type.
  [[nodiscard]] std::int64_t integer(std::string_view name) const;
  [[nodiscard]] double number(std::string_view name) const;
  [[nodiscard]] std::string_view text(std::string_view name) const;
  [[nodiscard]] std::size_t size(std::string_view name) const {
    return static_cast<std::size_t>(integer(name));
  }

  [[nodiscard]] int repeats() const noexcept { return repeats_; }
  [[nodiscard]] random_numbers& random() noexcept { return random_; }

  /// Calls `body(sample&)` for each repeat and prints what it yields. The body sets up, times and
  /// tears down; only what it hands to the sample is timed.
  template <class Body>
  void each_repeat(Body&& body) {
    for (int repeat = 0; repeat < repeats_; ++repeat) {
      sample the_sample{*question_, repeat, plant_ns_};
      surroundings around{};
      around.spin_before_ns = calibrated_spin_ns(spins);
      const std::uint64_t wait_start_ns = now_ns();
      around.breadth_before_ns = core_.wait();
      around.waited_ns = now_ns() - wait_start_ns;
      body(the_sample);
      around.breadth_after_ns = core_.look();
      around.spin_after_ns = calibrated_spin_ns(spins);
      finish(the_sample, around);
    }
  }

  /// True in the first repeat and the last: those whose work is checked in full.
  [[nodiscard]] bool inspects(const sample& one) const noexcept {
    return one.repeat() == 0 || one.repeat() == repeats_ - 1;
  }

  /// States that the work was done, or not. Only the outcome over all repeats is printed: the first
  /// that failed, else the last. Each `{}` of the sentence stands for an argument: a whole number,
  /// an atomic one, or a text.
  template <class... Arguments>
  void check(const char* id, bool ok, sentence<sizeof...(Arguments)> text,
             const Arguments&... arguments) {
    note_check(id, ok, check_text::of(text.text(), arguments...));
  }

  /// Adds to what the timed loops ask of malloc (malloc, calloc, realloc and aligned, not frees).
  void expect_calls(std::uint64_t calls) noexcept { expected_calls_ += calls; }

  /// Ends the cell without a number. Both texts are of static storage.
  [[noreturn]] void refuse(std::string_view what, std::string_view reason) const {
    throw refusal{what, reason};
  }

  /// Prints checks and the last line; returns the exit code of the process.
  int end() const;

 private:
  static constexpr int spins = 8; // of about 80 microseconds: under 1 ms on each side of a repeat
  static constexpr std::size_t most_checks = 8;

  struct checked {
    const char* id;
    bool ok;
    check_text detail;
  };

  void finish(const sample& the_sample, const surroundings& around);
  void note_check(const char* id, bool ok, const check_text& what);

  const experiment* question_;
  const options* options_;
  int repeats_;
  double plant_ns_;
  quiet_core core_;
  random_numbers random_;
  cpu_list allowed_;
  std::uint64_t expected_calls_ = 0;
  checked checks_[most_checks] = {};
  std::size_t check_count_ = 0;
};

} // namespace heapwise::bench
