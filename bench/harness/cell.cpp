#include "harness/cell.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "harness/emit.hpp"
#include "harness/experiment.hpp"
#include "harness/options.hpp"

namespace heapwise::bench {
namespace {

template <class Type>
Type setting(const experiment& question, const options& chosen, std::string_view name) {
  for (std::size_t i = 0; i < question.parameters.size(); ++i) {
    if (question.parameters[i].name != name) continue;
    if (const auto* held = std::get_if<Type>(&chosen.settings[i])) return *held;
  }
  std::fprintf(stderr,
               "error E070: the experiment asks for a parameter it does not declare: %.*s\n",
               static_cast<int>(name.size()), name.data());
  std::abort();
}

} // namespace

cell::cell(const experiment& question, const options& chosen)
    : question_{&question},
      options_{&chosen},
      repeats_{chosen.repeats},
      plant_ns_{chosen.plant_ns},
      core_{chosen.quiet_ns, chosen.patience_ms * 1'000'000},
      random_{chosen.seed},
      allowed_{cpu_list::of_this_thread()} {}

std::int64_t cell::integer(std::string_view name) const {
  return setting<std::int64_t>(*question_, *options_, name);
}

double cell::number(std::string_view name) const {
  return setting<double>(*question_, *options_, name);
}

std::string_view cell::text(std::string_view name) const {
  return setting<std::string_view>(*question_, *options_, name);
}

void cell::finish(const sample& the_sample, const surroundings& around) {
  emit_line([&](json_line& line) { the_sample.write(line, around); });
  check("quantities", the_sample.complete(), "repeat {} sets every declared quantity",
        the_sample.repeat());
  check("affinity", the_sample.kept_to(allowed_), "repeat {} ran where it may",
        the_sample.repeat());
}

void cell::note_check(const char* id, bool ok, const check_text& what) {
  std::size_t index = 0;
  while (index < check_count_ && std::strcmp(checks_[index].id, id) != 0) ++index;
  if (index == most_checks) std::abort();
  checked& entry = checks_[index];
  if (index < check_count_ && !entry.ok) return;
  check_count_ = std::max(check_count_, index + 1);
  entry = {id, ok, what};
}

int cell::end() const {
  constexpr int exit_check_failed = 3;
  bool all_ok = true;
  for (std::size_t i = 0; i < check_count_; ++i) {
    all_ok = all_ok && checks_[i].ok;
    emit_line([&entry = checks_[i]](json_line& line) {
      line.open('{').field("kind", "check").field("id", entry.id).field("ok", entry.ok);
      line.field("detail", entry.detail.c_str()).close('}').end_of_line();
    });
  }
  emit_line([this](json_line& line) {
    line.open('{').field("kind", "end").field("expected_calls", expected_calls_);
    line.close('}').end_of_line();
  });
  return all_ok ? 0 : exit_check_failed;
}

} // namespace heapwise::bench
