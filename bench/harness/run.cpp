#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <string>

#include "harness/builds.hpp"
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

/// "" for an experiment that has one build.
std::string_view wanted_build(const experiment& question, const options& chosen) {
  const auto match = std::ranges::find(question.parameters, build_name, &parameter::name);
  if (match == question.parameters.end()) return "";
  return std::get<std::string_view>(
      chosen.settings[static_cast<std::size_t>(match - question.parameters.begin())]);
}

/// Returns only if there is no such program.
void become(std::string_view wanted, char** argv) {
  std::error_code error;
  const std::filesystem::path mine = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) return;
  const std::string other = mine.parent_path() / wanted / mine.filename();
  std::fflush(nullptr);
  ::execv(other.c_str(), argv);
}

int measure(const experiment& question, const options& chosen, const build& mine, char** argv) {
  const std::string_view wanted = wanted_build(question, chosen);
  const bool is_other = !wanted.empty() && wanted != mine.name;
  if (is_other && mine.name == usual_build) become(wanted, argv);
  emit_line(
      [&](json_line& line) { write_start(line, question, chosen, mine.flags, mine.compiler); });
  if (is_other)
    return refuse({"build", "this compiler, or this build of Heapwise, has no such one"});
  if (chosen.subject->run == nullptr) return refuse({"subject", chosen.subject->reason});
  try {
    cell the_cell{question, chosen};
    chosen.subject->run(the_cell);
    return the_cell.end();
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
  return run(question, argc, argv, this_build);
}

int run(const experiment& question, int argc, char** argv, const build& mine) {
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
    return measure(question, chosen, mine, argv);
  } catch (const usage_error& error) {
    return complain(program, error);
  }
}

} // namespace heapwise::bench
