#include "harness/options.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace heapwise::bench {
namespace {

template <class Number>
std::optional<Number> read_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

const value& first_of(const parameter& each, bool smoke) {
  return smoke && !each.smoke.empty() ? each.smoke.front() : each.defaults.front();
}

value read_value(const parameter& each, std::string_view text) {
  if (std::holds_alternative<std::string_view>(each.defaults.front())) {
    if (std::ranges::count(choices_of(each), text) == 0)
      throw usage_error{"unknown value", text, each.meaning};
    return text;
  }
  if (std::holds_alternative<double>(each.defaults.front())) {
    const auto number = read_number<double>(text);
    if (!number || !std::isfinite(*number) || *number < static_cast<double>(each.least)) {
      throw usage_error{"no number in the range of its parameter:", text, each.meaning};
    }
    return *number;
  }
  const auto number = read_number<std::int64_t>(text);
  if (!number || *number < each.least) {
    throw usage_error{"no whole number in the range of its parameter:", text, each.meaning};
  }
  return *number;
}

void take_setting(const experiment& question, std::string_view setting, options& chosen) {
  const std::size_t equals = setting.find('=');
  const std::string_view name = setting.substr(0, equals);
  const auto match = std::ranges::find(question.parameters, name, &parameter::name);
  if (equals == std::string_view::npos || match == question.parameters.end()) {
    throw usage_error{"unknown parameter", setting, "--set needs NAME=VALUE; see --describe."};
  }
  const auto index = static_cast<std::size_t>(match - question.parameters.begin());
  chosen.settings[index] = read_value(*match, setting.substr(equals + 1));
}

void take_subject(const experiment& question, std::string_view name, options& chosen) {
  const auto match = std::ranges::find(question.subjects, name, &subject::name);
  if (match == question.subjects.end()) {
    throw usage_error{"unknown subject", name, "See --list-subjects."};
  }
  chosen.subject = &*match;
}

void take_value(const experiment& question, std::string_view name, std::string_view text,
                options& chosen) {
  if (name == "--subject") {
    take_subject(question, text, chosen);
  } else if (name == "--set") {
    take_setting(question, text, chosen);
  } else if (name == "--repeats") {
    const auto repeats = read_number<int>(text);
    if (!repeats || *repeats < 1) throw usage_error{"--repeats cannot be", text, "At least 1."};
    chosen.repeats = *repeats;
  } else if (name == "--seed") {
    const auto seed = read_number<std::uint64_t>(text);
    if (!seed) throw usage_error{"--seed cannot be", text, "A whole number from 0."};
    chosen.seed = *seed;
  } else if (name == "--quiet-ns") {
    const auto quiet_ns = read_number<std::uint64_t>(text);
    if (!quiet_ns) throw usage_error{"--quiet-ns cannot be", text, "A whole number from 0."};
    chosen.quiet_ns = *quiet_ns;
  } else if (name == "--patience-ms") {
    const auto patience_ms = read_number<std::uint32_t>(text);
    if (!patience_ms) throw usage_error{"--patience-ms cannot be", text, "A whole number from 0."};
    chosen.patience_ms = *patience_ms;
  } else if (name == "--plant-ns") {
    const auto plant_ns = read_number<double>(text);
    if (!plant_ns || !std::isfinite(*plant_ns) || *plant_ns <= 0) {
      throw usage_error{"--plant-ns cannot be", text, "A time above 0."};
    }
    chosen.plant_ns = *plant_ns;
  } else {
    throw usage_error{"unknown option", name, "See --help."};
  }
}

} // namespace

std::vector<std::string_view> choices_of(const parameter& each) {
  if (!each.choices.empty()) return each.choices;
  std::vector<std::string_view> texts;
  for (const auto* const values : {&each.defaults, &each.smoke}) {
    for (const value& each_value : *values) {
      const auto text = std::get<std::string_view>(each_value);
      if (std::ranges::count(texts, text) == 0) texts.push_back(text);
    }
  }
  return texts;
}

options read_options(const experiment& question, int argc, char** argv) {
  constexpr int smoke_repeats = 2;
  options chosen;
  const std::vector<std::string_view> arguments{argv + 1, argv + argc};
  chosen.smoke = std::ranges::count(arguments, "--smoke") != 0;
  for (const auto& each : question.parameters) {
    chosen.settings.push_back(first_of(each, chosen.smoke));
  }
  chosen.repeats = chosen.smoke ? smoke_repeats : question.repeats;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "--smoke") continue;
    if (arguments[i] == "--self-test") {
      chosen.self_test = true;
    } else if (arguments[i] == "--describe") {
      chosen.verb = options::verb::describe;
    } else if (arguments[i] == "--list-subjects") {
      chosen.verb = options::verb::list_subjects;
    } else if (i + 1 < arguments.size()) {
      take_value(question, arguments[i], arguments[i + 1], chosen);
      ++i;
    } else {
      throw usage_error{"unknown option, or one without its value:", arguments[i], "See --help."};
    }
  }
  if (chosen.verb == options::verb::measure && chosen.subject == nullptr) {
    throw usage_error{"no subject", "", "--subject S says what is measured."};
  }
  if (chosen.plant_ns > 0 && !chosen.self_test) {
    throw usage_error{"--plant-ns falsifies", "what is measured", "Only with --self-test."};
  }
  return chosen;
}

} // namespace heapwise::bench
