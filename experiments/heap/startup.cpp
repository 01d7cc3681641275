// The start and end of a program that does nothing: what every process pays for its allocator.
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "sources/quantities.hpp"
#include "sources/sources.hpp"

namespace {

using namespace heapwise::bench;

/// `native/heapwise-empty`, beside the folder of the experiments.
std::string path_of_empty_program() {
  char path[PATH_MAX] = {};
  if (readlink("/proc/self/exe", path, sizeof path - 1) <= 0) return {};
  std::string folder{path};
  for (int level = 0; level < 3; ++level) folder.erase(folder.rfind('/'));
  return folder + "/heapwise-empty";
}

/// LD_PRELOAD without the probe that says which malloc is here: its start is not the allocator's.
std::string without_probe(std::string_view libraries) {
  std::string kept;
  while (!libraries.empty()) {
    const std::size_t end = std::min(libraries.find_first_of(": "), libraries.size());
    const std::string_view each = libraries.substr(0, end);
    libraries.remove_prefix(std::min(end + 1, libraries.size()));
    if (each.empty() || each.find("libheapwise-probe.so") != std::string_view::npos) continue;
    if (!kept.empty()) kept += ':';
    kept += each;
  }
  return kept;
}

/// This process's environment as the children get it. All of it is made before the clock starts.
std::vector<std::string> environment_of_children() {
  constexpr std::string_view preload = "LD_PRELOAD=";
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    const std::string_view text{*each};
    if (text.starts_with("HEAPWISE_PROBE_OUT=") || text.starts_with("HEAPWISE_PAD=")) continue;
    if (text.starts_with(preload)) {
      variables.push_back(std::string{preload} + without_probe(text.substr(preload.size())));
    } else {
      variables.emplace_back(text);
    }
  }
  return variables;
}

class empty_program {
 public:
  empty_program() : path_{path_of_empty_program()}, variables_{environment_of_children()} {
    for (std::string& each : variables_) environment_.push_back(each.data());
    environment_.push_back(nullptr);
  }

  [[nodiscard]] bool is_there() const { return access(path_.c_str(), X_OK) == 0; }

  /// Starts it and waits for its end; true if that was a good one.
  bool run() { return ends_well(start(nullptr, false)); }

  /// The most memory that it had at once, as it says itself; 0 if it says nothing.
  std::uint64_t peak_bytes() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return 0;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    const pid_t child = start(&actions, true);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    char text[64] = {};
    const ssize_t length = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    return ends_well(child) && length > 0 ? 1024 * std::strtoull(text, nullptr, 10) : 0;
  }

 private:
  /// posix_spawn shares this process's memory until the exec: its size does not matter. Returns -1
  /// if there is no child.
  pid_t start(const posix_spawn_file_actions_t* actions, bool with_argument) {
    char argument[] = "--peak";
    char* arguments[] = {path_.data(), with_argument ? argument : nullptr, nullptr};
    pid_t child = -1;
    const int error =
        posix_spawn(&child, path_.c_str(), actions, nullptr, arguments, environment_.data());
    return error == 0 ? child : -1;
  }

  static bool ends_well(pid_t child) {
    int status = -1;
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
           WEXITSTATUS(status) == 0;
  }

  std::string path_;
  std::vector<std::string> variables_;
  std::vector<char*> environment_;
};

void measure(cell& the_cell) {
  empty_program program;
  if (!program.is_there())
    the_cell.refuse("program", "heapwise-empty is not beside the experiments");
  const std::size_t starts = the_cell.size("starts");
  the_cell.each_repeat([&](sample& the_sample) {
    std::size_t good = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(starts, [&] {
      for (std::size_t i = 0; i < starts; ++i) good += program.run() ? 1 : 0;
    });
    const std::uint64_t peak = program.peak_bytes();
    the_sample.set("start", 1e-9 * heaps::ratio(elapsed_ns, starts));
    the_sample.set("peak_resident", static_cast<double>(peak));
    the_cell.check("work", good == starts && peak != 0, "{} good ends of {} starts", good, starts);
    the_cell.expect_calls(starts + 1);
  });
}

const experiment question{
    .id = "heap/startup",
    .question = "What does an allocator add to the start of every process?",
    .isolates =
        "A program that calls malloc once and ends: loading the allocator's library, setting it "
        "up, taking it down.",
    .not_shown =
        "Programs that run for long. Most of the figure is the system's: fork, exec and the "
        "loader, which also links the library's symbols. The probe that proves which malloc is "
        "loaded is left out of what is timed; it proves it for the process that starts the "
        "others. peak_resident is that of the whole empty program, shared pages of libraries "
        "included.",
    .parameters = {{"starts", "of the program, one after the other", {100}, {20}}},
    .quantities = {{"start", "s", better::lower, "one program's fork, exec and exit, waited for"},
                   {"peak_resident", "bytes", better::lower,
                    "the most memory that the empty program had at once"}},
    .subjects = {{"malloc", "the malloc of this process, preloaded into its children", measure, "",
                  subject_kind::malloc}},
    .baseline = heaps::baseline,
    .repeats = 3,
};

} // namespace

int main(int argc, char** argv) { return run(question, argc, argv); }
