// The command line of an experiment.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "harness/experiment.hpp"

namespace heapwise::bench {

struct options {
  enum class verb { describe, list_subjects, measure };

  options::verb verb = verb::measure;
  const bench::subject* subject = nullptr;
  std::vector<value> settings; ///< one for each parameter of the experiment, in its order
  int repeats = 0;
  std::uint64_t seed = 1;
  std::uint64_t quiet_ns = 0;    ///< the least breadth seen in this run; kernel/breadth.hpp
  std::uint64_t patience_ms = 0; ///< how long repeats may wait in all for a core of their own
  bool smoke = false;
  bool self_test = false;
  double plant_ns = 0.0; ///< only with self_test: added to every operation, to see it found
};

/// What is wrong with a command line: the three sentences of every error.
struct usage_error {
  std::string_view what;
  std::string_view about;
  std::string_view why;
};

/// Returns: what --set may give for a parameter whose values are text.
std::vector<std::string_view> choices_of(const parameter& each);

/// Throws usage_error. The arguments must outlive the result.
options read_options(const experiment& question, int argc, char** argv);

} // namespace heapwise::bench
