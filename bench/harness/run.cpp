#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <string>

#include "harness/describe.hpp"
#include "harness/emit.hpp"
#include "harness/experiment.hpp"
#include "harness/options.hpp"

namespace heapwise::bench {
namespace {

constexpr int exit_bad_usage = 2;
constexpr const char* usage =
    "--describe | --list-subjects | --subject S [--set NAME=VALUE ...]\n"
    "      [--repeats N] [--seed N] [--smoke] [--quiet-ns N] [--patience-ms N]";

int complain(const char* program, const usage_error& error) {
  std::fprintf(stderr, "error E003: %.*s %.*s\n      %.*s\n  do: %s %s\n",
               static_cast<int>(error.what.size()), error.what.data(),
               static_cast<int>(error.about.size()), error.about.data(),
               static_cast<int>(error.why.size()), error.why.data(), program, usage);
  return exit_bad_usage;
}

int refuse(const refusal& refused) {
  emit_line([&](json_line& line) {
    line.open('{').field("kind", "refused").field("what", refused.what);
    line.field("reason", refused.reason).close('}').end_of_line();
  });
  return 0;
}

int measure(const experiment& question, const options& chosen) {
  emit_line([&](json_line& line) { write_start(line, question, chosen); });
  if (chosen.subject->run == nullptr) return refuse({"subject", chosen.subject->reason});
  try {
    cell given{question, chosen};
    chosen.subject->run(given);
    return given.end();
  } catch (const refusal& refused) {
    return refuse(refused);
  } catch (const std::bad_alloc&) {
    return refuse({"memory", "there was not enough for what the parameters ask"});
  }
}

void list_subjects(const experiment& question) {
  std::string names;
  for (const auto& each : question.subjects) names.append(each.name).append("\n");
  std::fputs(names.c_str(), stdout);
}

void print_help(const experiment& question, const char* program) {
  std::printf("%.*s: %.*s\n\n  %s %s\n", static_cast<int>(question.id.size()), question.id.data(),
              static_cast<int>(question.question.size()), question.question.data(), program, usage);
}

} // namespace

int run(const experiment& question, int argc, char** argv) {
  const char* program = argc > 0 ? argv[0] : "experiment";
  if (argc > 1 && std::strcmp(argv[1], "--help") == 0) {
    print_help(question, program);
    return 0;
  }
  try {
    const options chosen = read_options(question, argc, argv);
    switch (chosen.verb) {
      case options::verb::describe:
        emit_line([&](json_line& line) { write_description(line, question); });
        return 0;
      case options::verb::list_subjects:
        list_subjects(question);
        return 0;
      case options::verb::measure:
        break;
    }
    return measure(question, chosen);
  } catch (const usage_error& error) {
    return complain(program, error);
  }
}

} // namespace heapwise::bench
