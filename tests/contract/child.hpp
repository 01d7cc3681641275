// Runs something that may abort in a fresh process, and tells how that ended.
#pragma once

#include <csignal>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace contract {

/// How a child ended.
struct ending {
  int signal = 0;      ///< that killed it, 0 if none did
  int exit_code = -1;  ///< -1 if a signal killed it
  std::string error{}; ///< what it wrote to standard error
};

/// Effects: in a child: ends it with the code if the condition does not hold.
inline void exit_unless(bool condition, int code) {
  if (!condition) std::_Exit(code);
}

/// Effects: forks, calls body() in the child, which then exits with 0.
template <class Body>
ending in_child(const Body& body) {
  int ends[2];
  if (::pipe(ends) != 0) std::abort();
  const pid_t child = ::fork();
  if (child < 0) std::abort();
  if (child == 0) {
    // The test framework's handlers would report an abort that is wanted here.
    for (const int each : {SIGABRT, SIGSEGV, SIGBUS, SIGILL}) std::signal(each, SIG_DFL);
    ::dup2(ends[1], STDERR_FILENO);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  ending how;
  char buffer[512];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) > 0;) {
    how.error.append(buffer, static_cast<std::size_t>(got));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) how.signal = WTERMSIG(status);
  if (WIFEXITED(status)) how.exit_code = WEXITSTATUS(status);
  return how;
}

} // namespace contract
