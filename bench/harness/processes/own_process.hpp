// Work in a process of its own: with a heap that was not used yet, and limits that end with it.
#pragma once

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <new>

namespace heapwise::bench {

/// How a process ended.
struct ending {
  bool forked = false; ///< false: the system allowed no process
  int signal = 0;      ///< that ended it; SIGXCPU or SIGALRM: its time was over
  int exit_code = 0;

  [[nodiscard]] bool well() const noexcept { return forked && signal == 0 && exit_code == 0; }
};

/// Calls `body()` in a copy of this process and waits for its end. The copy may use `most_seconds`
/// of processor time, and ten times as many may pass: on a busy machine, most of them are not its
/// own. The calling process must have one thread. Results come back in a shared_object of the
/// harness.
template <class Body>
ending run_in_own_process(unsigned most_seconds, Body&& body) {
  constexpr int exit_no_memory = 1;
  const pid_t child = fork();
  if (child < 0) return {};
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    const rlimit processor_seconds{most_seconds, most_seconds + 1};
    setrlimit(RLIMIT_CPU, &processor_seconds);
    alarm(10 * most_seconds);
    try {
      body();
    } catch (const std::bad_alloc&) {
      _exit(exit_no_memory);
    }
    _exit(0);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  ending result{true, 0, 0};
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  return result;
}

} // namespace heapwise::bench
