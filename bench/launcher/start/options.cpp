#include "launcher/start/options.hpp"

#include <unistd.h>

#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "launcher/memory/memory_curve.hpp"
#include "launcher/start/environment.hpp"

namespace heapwise::bench {
namespace {

bool complain(const char* what, const char* about, const char* why) {
  std::fprintf(
      stderr,
      "error E003: %s%s%s\n      %s\n  do: heapwise-launch [--timeout S] [--stdin FILE] "
      "[--stdout FILE | --pass-stdout] [--stderr FILE]\n      [--cpus LIST] [--directory DIR] "
      "[--result FILE] [--environment DESCRIPTOR]\n      [--memory-moments N] [--starter SOCKET] "
      "[--slice SECONDS] [--watch-names]\n      [--own-folder DIR] "
      "-- PROGRAM ARGS...\n"
      "  or heapwise-launch --attach PID --timeout S --memory-moments N [--result FILE]\n",
      what, about[0] == '\0' ? "" : " ", about, why);
  return false;
}

bool read_seconds(const char* text, double& seconds) {
  char* end = nullptr;
  seconds = std::strtod(text, &end);
  return end != text && *end == '\0' && std::isfinite(seconds) && seconds > 0;
}

bool take_environment(const char* value, launch_options& options) {
  char* end = nullptr;
  const long file = std::strtol(value, &end, 10);
  const bool number = end != value && *end == '\0' && file > STDERR_FILENO && file <= INT_MAX;
  options.environment = number ? read_environment(static_cast<int>(file)) : nullptr;
  return options.environment != nullptr ||
         complain("--environment cannot be", value,
                  "It needs an open descriptor above 2 that holds NAME=VALUE entries, each ended "
                  "by a NUL byte.");
}

bool take_moments(const char* value, launch_options& options) {
  char* end = nullptr;
  const long number = std::strtol(value, &end, 10);
  if (end == value || *end != '\0' || number < 0 || number > memory_curve::most_kept) {
    return complain("--memory-moments cannot be", value, "It needs a number from 0 to 4096.");
  }
  options.memory_moments = static_cast<int>(number);
  return true;
}

bool take_starter(const char* value, launch_options& options) {
  char* end = nullptr;
  const long file = std::strtol(value, &end, 10);
  options.starter = static_cast<int>(file);
  return (end != value && *end == '\0' && file > STDERR_FILENO && file <= INT_MAX) ||
         complain("--starter cannot be", value, "It needs an open socket above descriptor 2.");
}

bool take_attached(const char* value, launch_options& options) {
  char* end = nullptr;
  const long number = std::strtol(value, &end, 10);
  options.attached = static_cast<pid_t>(number);
  return (end != value && *end == '\0' && number > 0 && number == options.attached) ||
         complain("--attach cannot be", value, "It needs the number of a process.");
}

bool take_value(const char* name, char* value, launch_options& options) {
  const auto is = [name](const char* option) { return std::strcmp(name, option) == 0; };
  if (is("--timeout")) {
    return read_seconds(value, options.timeout_s) ||
           complain("--timeout cannot be", value, "It needs a number of seconds above 0.");
  }
  if (is("--slice")) {
    double slice_s = 0;
    const bool known = read_seconds(value, slice_s) && slice_s < 1;
    options.slice_ns = known ? static_cast<std::uint64_t>(slice_s * 1e9) : 0;
    return known ||
           complain("--slice cannot be", value, "It needs a number of seconds from 0 to 1.");
  }
  if (is("--cpus")) {
    options.pinned = cpu_list::parse(value, options.cpus);
    return options.pinned || complain("--cpus cannot be", value, "It needs a list like 0,2-3.");
  }
  if (is("--environment")) return take_environment(value, options);
  if (is("--memory-moments")) return take_moments(value, options);
  if (is("--starter")) return take_starter(value, options);
  if (is("--attach")) return take_attached(value, options);
  const char** path = is("--stdin")        ? &options.stdin_path
                      : is("--stdout")     ? &options.stdout_path
                      : is("--stderr")     ? &options.stderr_path
                      : is("--directory")  ? &options.directory
                      : is("--result")     ? &options.result_path
                      : is("--own-folder") ? &options.own_folder
                                           : nullptr;
  if (path == nullptr) return complain("unknown option", name, "PROGRAM comes after --.");
  *path = value;
  return true;
}

} // namespace

bool read_launch_options(int argc, char** argv, char** inherited, launch_options& options) {
  options.environment = inherited;
  int i = 1;
  for (; i < argc && std::strcmp(argv[i], "--") != 0; ++i) {
    if (std::strcmp(argv[i], "--pass-stdout") == 0) {
      options.pass_stdout = true;
      continue;
    }
    if (std::strcmp(argv[i], "--watch-names") == 0) {
      options.watch_names = true;
      continue;
    }
    if (i + 1 == argc) return complain("no value for", argv[i], "Every option has one.");
    if (!take_value(argv[i], argv[i + 1], options)) return false;
    ++i;
  }
  if (options.attached != 0) {
    return (i >= argc && options.timeout_s > 0 && options.memory_moments > 0) ||
           complain("--attach cannot be used here", "",
                    "It needs --timeout and --memory-moments, and no PROGRAM.");
  }
  if (i + 1 >= argc) return complain("no program", "", "There is nothing after --.");
  if (options.pass_stdout && (options.result_path == nullptr || options.stdout_path != nullptr)) {
    return complain("--pass-stdout cannot be used here", "",
                    "It needs --result and excludes --stdout: that stream is PROGRAM's alone.");
  }
  options.program = argv + i + 1;
  return true;
}

} // namespace heapwise::bench
