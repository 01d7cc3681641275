#include "launcher/options.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace heapwise::bench {
namespace {

bool complain(const char* what, const char* about, const char* why) {
  std::fprintf(stderr,
               "error E003: %s%s%s\n      %s\n  do: heapwise-launch [--timeout S] [--stdin FILE] "
               "[--stdout FILE | --pass-stdout] [--stderr FILE]\n      [--cpus LIST] [--directory DIR] "
               "[--result FILE] [--env NAME=VALUE ...] [--clean-env]\n      -- PROGRAM ARGS...\n",
               what, about[0] == '\0' ? "" : " ", about, why);
  return false;
}

std::size_t count_of(char** strings) {
  std::size_t count = 0;
  while (strings[count] != nullptr) ++count;
  return count;
}

/// The environment of the program: inherited or empty, with each setting added or replaced.
class environment_builder {
 public:
  environment_builder(char** inherited, int most_settings)
      : entries_{static_cast<char**>(std::calloc(
            count_of(inherited) + static_cast<std::size_t>(most_settings) + 1, sizeof(char*)))} {
    for (; inherited[count_] != nullptr; ++count_) entries_[count_] = inherited[count_];
  }

  void clear() {
    count_ = 0;
    entries_[0] = nullptr;
  }

  bool set(char* setting) {
    const char* equals = std::strchr(setting, '=');
    if (equals == nullptr || equals == setting) return false;
    const auto name = static_cast<std::size_t>(equals - setting) + 1;
    for (std::size_t i = 0; i < count_; ++i) {
      if (std::strncmp(entries_[i], setting, name) != 0) continue;
      entries_[i] = setting;
      return true;
    }
    entries_[count_++] = setting;
    entries_[count_] = nullptr;
    return true;
  }

  [[nodiscard]] char** entries() const { return entries_; }

 private:
  char** entries_; // lives until the launcher ends
  std::size_t count_ = 0;
};

bool read_seconds(const char* text, double& seconds) {
  char* end = nullptr;
  seconds = std::strtod(text, &end);
  return end != text && *end == '\0' && std::isfinite(seconds) && seconds > 0;
}

bool take_value(const char* name, char* value, launch_options& options,
                environment_builder& environment) {
  const auto is = [name](const char* option) { return std::strcmp(name, option) == 0; };
  if (is("--timeout")) {
    return read_seconds(value, options.timeout_s) ||
           complain("--timeout cannot be", value, "It needs a number of seconds above 0.");
  }
  if (is("--cpus")) {
    options.pinned = cpu_list::parse(value, options.cpus);
    return options.pinned || complain("--cpus cannot be", value, "It needs a list like 0,2-3.");
  }
  if (is("--env")) {
    return environment.set(value) || complain("--env cannot be", value, "It needs NAME=VALUE.");
  }
  const char** path = is("--stdin")       ? &options.stdin_path
                      : is("--stdout")    ? &options.stdout_path
                      : is("--stderr")    ? &options.stderr_path
                      : is("--directory") ? &options.directory
                      : is("--result")    ? &options.result_path
                                          : nullptr;
  if (path == nullptr) return complain("unknown option", name, "PROGRAM comes after --.");
  *path = value;
  return true;
}

} // namespace

bool read_launch_options(int argc, char** argv, char** inherited, launch_options& options) {
  environment_builder environment{inherited, argc};
  // First, so that the order of the options on the command line does not matter.
  for (int i = 1; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--clean-env") == 0) environment.clear();
  }
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--clean-env") == 0) continue;
    if (std::strcmp(argv[i], "--pass-stdout") == 0) {
      options.pass_stdout = true;
      continue;
    }
    if (i + 1 == argc) return complain("no value for", argv[i], "Every option has one.");
    if (!take_value(argv[i], argv[i + 1], options, environment)) return false;
    ++i;
  }
  if (i + 1 >= argc) return complain("no program", "", "There is nothing after --.");
  if (options.pass_stdout && (options.result_path == nullptr || options.stdout_path != nullptr)) {
    return complain("--pass-stdout cannot be used here", "",
                    "It needs --result and excludes --stdout: that stream is PROGRAM's alone.");
  }
  options.program = argv + i + 1;
  options.environment = environment.entries();
  return true;
}

} // namespace heapwise::bench
