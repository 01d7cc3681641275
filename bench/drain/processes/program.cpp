#include "drain/processes/program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "line/handed_file.hpp"

namespace heapwise::bench {

namespace {

/// The program and all that it starts inherit the memory, under a number beyond those that scripts
/// name and that programs are given.
void hand_over(int file) {
  constexpr int first_descriptor = 200;
  const handed_file handed = handed_file::of(fcntl(file, F_DUPFD, first_descriptor));
  unsetenv(record_file_variable);
  if (handed.descriptor < 0) return; // the limit of the process is lower
  char text[handed_file::text_bytes];
  handed.write(text);
  setenv(record_file_variable, text, 1);
}

/// In the child: its entry, its environment, its signals, and exec. Returns if that fails.
void become_program(const recording_options& asked, rings& all, pid_t parent) {
  const std::string path = "/proc/" + std::to_string(parent) + "/fd/" + std::to_string(all.file());
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string preload = preloaded != nullptr && *preloaded != '\0'
                                  ? asked.recorder + ":" + preloaded
                                  : asked.recorder;
  process_entry& first = all.memory().processes[0];
  first.parent.store(parent, std::memory_order_relaxed);
  first.id.store(getpid(), std::memory_order_relaxed);
  // release: as every process does for its own.
  first.is_ready.store(true, std::memory_order_release);
  setenv("LD_PRELOAD", preload.c_str(), 1);
  setenv(record_variable, path.c_str(), 1);
  hand_over(all.file());
  for (const int each : {SIGINT, SIGQUIT, SIGTERM, SIGXFSZ}) signal(each, SIG_DFL);
  execvp(asked.program[0], asked.program);
}

} // namespace

pid_t start_program(const recording_options& asked, rings& all, int& error) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  all.memory().processes_used.store(1, std::memory_order_relaxed);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    become_program(asked, all, parent);
    const int reason = errno;
    [[maybe_unused]] const ssize_t told = write(report[1], &reason, sizeof reason);
    _exit(127);
  }
  close(report[1]);
  if (child < 0 || read(report[0], &error, sizeof error) <= 0) error = 0;
  close(report[0]);
  return child;
}

} // namespace heapwise::bench
