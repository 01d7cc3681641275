#include "harness/sample.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>

#include "harness/experiment.hpp"
#include "kernel/spin.hpp"

namespace heapwise::bench {

kernel_counts kernel_counts::now() noexcept {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {usage.ru_minflt, usage.ru_nivcsw};
}

std::uint64_t sample::plant(std::uint64_t operations) const noexcept {
  const std::uint64_t start_ns = now_ns();
  spin_for_ns(plant_ns_ * static_cast<double>(operations));
  return now_ns() - start_ns;
}

void sample::add_region(std::uint64_t elapsed_ns, std::uint64_t operations,
                        const kernel_counts& before) noexcept {
  const kernel_counts after = kernel_counts::now();
  counted_.minor_faults += after.minor_faults - before.minor_faults;
  counted_.involuntary_switches += after.involuntary_switches - before.involuntary_switches;
  elapsed_ns_ += elapsed_ns;
  operations_ += operations;
  shortest_region_ns_ = std::min(shortest_region_ns_, elapsed_ns);
  // The usual value, which an experiment may replace.
  const auto& known = question_->quantities;
  const bool wanted = std::ranges::find(known, processor_time.name, &quantity::name) != known.end();
  if (wanted && operations_ > 0) set_processor_time(operations_);
}

void sample::set(std::string_view quantity, double figure) noexcept {
  const auto match = std::ranges::find(question_->quantities, quantity, &quantity::name);
  const auto index = static_cast<std::size_t>(match - question_->quantities.begin());
  // A quantity that is not declared is a mistake in the experiment, seen by its first smoke run.
  if (match == question_->quantities.end() || index >= most_quantities) std::abort();
  values_[index] = figure;
  known_[index] = true;
}

bool sample::complete() const noexcept {
  return std::all_of(known_, known_ + question_->quantities.size(),
                     [](bool known) { return known; });
}

bool sample::kept_to(const cpu_list& allowed) const noexcept { return cpus_.within(allowed); }

void sample::write(json_line& line, const surroundings& around) const {
  line.open('{').field("kind", "sample").field("repeat", repeat_).key("values").open('{');
  for (std::size_t i = 0; i < question_->quantities.size(); ++i) {
    if (known_[i]) line.field(question_->quantities[i].name, values_[i]);
  }
  line.close('}').key("facts").open('{');
  write_facts(line);
  line.field("spin_ns", std::min(around.spin_before_ns, around.spin_after_ns));
  line.field("spin_before_ns", around.spin_before_ns);
  line.field("spin_after_ns", around.spin_after_ns);
  line.field("breadth_before_ns", around.breadth_before_ns);
  line.field("breadth_after_ns", around.breadth_after_ns);
  line.field("waited_ns", around.waited_ns);
  cpus_.write(line.key("cpus"));
  line.close('}').close('}').end_of_line();
}

void sample::write_facts(json_line& line) const {
  line.field("elapsed_ns", elapsed_ns_).field("operations", operations_);
  line.field("shortest_region_ns", shortest_region_ns_ == UINT64_MAX ? 0 : shortest_region_ns_);
  line.field("minor_faults", counted_.minor_faults);
  line.field("involuntary_switches", counted_.involuntary_switches).field("threads", threads_);
}

} // namespace heapwise::bench
