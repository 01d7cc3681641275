// A child process that a test starts, with a limit that ends even a child that blocks all signals.
#pragma once

#include <csignal>
#include <ctime>

#include <sys/wait.h>
#include <unistd.h>

namespace gc_test {

/// Effects: forks; the child calls `body` and exits with what it returns. The parent kills it after
/// `most_seconds`. Returns: the status that waitpid tells; SIGKILL stands for a child that hangs.
template <class Body>
int status_of_process(Body body, unsigned most_seconds = 60) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL); // doctest reports it otherwise
    std::signal(SIGSEGV, SIG_DFL);
    ::_exit(body());
  }
  constexpr unsigned looks_each_second = 200;
  int status = 0;
  for (unsigned look = 0; look < most_seconds * looks_each_second; ++look) {
    if (::waitpid(child, &status, WNOHANG) == child) return status;
    constexpr timespec pause{.tv_sec = 0, .tv_nsec = 1'000'000'000 / looks_each_second};
    ::nanosleep(&pause, nullptr);
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return status;
}

} // namespace gc_test
