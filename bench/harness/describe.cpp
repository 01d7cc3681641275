#include "harness/describe.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "harness/options.hpp"
#include "kernel/clock.hpp"
#include "kernel/cpu_list.hpp"
#include "probe/provider.hpp"

#ifndef HEAPWISE_BENCH_FLAGS
#define HEAPWISE_BENCH_FLAGS "unknown"
#endif

namespace heapwise::bench {
namespace {

constexpr int schema_version = 1;

#if defined(__clang__)
constexpr const char* compiler = "clang " __clang_version__;
#else
constexpr const char* compiler = "gcc " __VERSION__;
#endif

#if defined(NDEBUG)
constexpr bool ndebug = true;
#else
constexpr bool ndebug = false;
#endif

void write_value(json_line& line, const value& setting) {
  std::visit([&line](const auto& held) { line.value(held); }, setting);
}

void write_values(json_line& line, std::string_view key, const std::vector<value>& values) {
  line.key(key).open('[');
  for (const auto& each : values) write_value(line, each);
  line.close(']');
}

bool contains(const std::vector<std::string_view>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Effects: writes what --set may give.
void write_range(json_line& line, const parameter& each) {
  if (!std::holds_alternative<std::string_view>(each.defaults.front())) {
    line.field("least", each.least);
    return;
  }
  line.key("choices").open('[');
  for (const std::string_view text : choices_of(each)) line.value(text);
  line.close(']');
}

void write_parameters(json_line& line, const experiment& question) {
  line.key("parameters").open('[');
  for (const auto& each : question.parameters) {
    line.open('{').field("name", each.name).field("meaning", each.meaning);
    write_values(line, "default", each.defaults);
    write_values(line, "smoke", each.smoke.empty() ? each.defaults : each.smoke);
    line.field("unit", each.unit);
    write_range(line, each);
    line.field("changes_work", contains(question.work_parameters, each.name)).close('}');
  }
  line.close(']');
}

void write_quantities(json_line& line, const experiment& question) {
  line.key("quantities").open('[');
  for (const auto& each : question.quantities) {
    line.open('{').field("name", each.name).field("unit", each.unit);
    line.field("better", each.better == better::lower ? "lower" : "higher");
    line.field("meaning", each.meaning).field("restates", each.restates).close('}');
  }
  line.close(']');
}

void write_subjects(json_line& line, const experiment& question) {
  line.key("subjects").open('[');
  for (const auto& each : question.subjects) {
    line.open('{').field("name", each.name);
    line.field("kind", each.kind == subject_kind::malloc ? "malloc" : "inline");
    line.field("title", each.title).field("available", each.run != nullptr);
    line.field("reason", each.reason);
    line.field("yardstick", contains(question.yardsticks, each.name)).close('}');
  }
  line.close(']');
}

using settings = std::vector<std::pair<std::string_view, value>>;

void write_settings(json_line& line, std::string_view key, const settings& cell) {
  line.key(key).open('{');
  for (const auto& [name, setting] : cell) write_value(line.key(name), setting);
  line.close('}');
}

void write_expectations(json_line& line, const experiment& question) {
  line.key("expectations").open('[');
  for (const auto& each : question.expectations) {
    line.open('{').field("says", each.says).field("quantity", each.quantity);
    line.field("subject", each.subject).field("over", each.over);
    write_settings(line, "parameters", each.parameters);
    write_settings(line, "over_parameters", each.over_parameters);
    line.field("at_least", each.at_least).key("at_most");
    std::isinf(each.at_most) ? line.null() : line.value(each.at_most);
    line.close('}');
  }
  line.close(']');
}

void write_answers(json_line& line, const experiment& question) {
  line.key("answers").open('[');
  for (const auto& each : question.answers) {
    line.open('{').field("quantity", each.quantity);
    line.field("subject", each.subject).field("over", each.over);
    write_settings(line, "parameters", each.parameters);
    write_settings(line, "over_parameters", each.over_parameters);
    line.close('}');
  }
  line.close(']');
}

void write_process(json_line& line, std::string_view flags, std::string_view other_compiler) {
  line.field("pid", static_cast<int>(getpid()));
  line.field("compiler", other_compiler.empty() ? compiler : other_compiler)
      .field("flags", flags.empty() ? HEAPWISE_BENCH_FLAGS : flags)
      .field("ndebug", ndebug);
  cpu_list::of_this_thread().write(line.key("affinity"));
  const clock_quality clock = measure_clock();
  line.key("clock").open('{').field("resolution_ns", clock.resolution_ns);
  line.field("overhead_ns", clock.overhead_ns).close('}');
  static provider malloc_provider;
  find_provider("malloc", malloc_provider);
  malloc_provider.write(line.key("malloc"));
}

} // namespace

void write_description(json_line& line, const experiment& question) {
  line.open('{').field("schema", schema_version).field("id", question.id);
  line.field("family", question.id.substr(0, question.id.find('/')));
  line.field("question", question.question).field("isolates", question.isolates);
  line.field("not_shown", question.not_shown);
  write_parameters(line, question);
  write_quantities(line, question);
  write_subjects(line, question);
  line.field("baseline", question.baseline).field("repeats", question.repeats);
  line.field("dropped_repeats", question.dropped_repeats);
  write_expectations(line, question);
  write_answers(line, question);
  line.close('}').end_of_line();
}

void write_start(json_line& line, const experiment& question, const options& chosen,
                 std::string_view flags, std::string_view other_compiler) {
  line.open('{').field("kind", "start").field("schema", schema_version);
  line.field("experiment", question.id).field("subject", chosen.subject->name);
  line.key("parameters").open('{');
  for (std::size_t i = 0; i < question.parameters.size(); ++i) {
    write_value(line.key(question.parameters[i].name), chosen.settings[i]);
  }
  line.close('}').field("repeats", chosen.repeats).field("seed", chosen.seed);
  line.field("smoke", chosen.smoke);
  if (chosen.plant_ns > 0) line.field("plant_ns", chosen.plant_ns);
  write_process(line, flags, other_compiler);
  line.close('}').end_of_line();
}

} // namespace heapwise::bench
