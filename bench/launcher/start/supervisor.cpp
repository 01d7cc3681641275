#include "launcher/start/supervisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "kernel/clock.hpp"
#include "kernel/readiness.hpp"

namespace heapwise::bench {
namespace {

constexpr std::uint64_t second_ns = 1'000'000'000;
constexpr std::uint64_t patience_ns = 2 * second_ns; // between SIGTERM and SIGKILL
constexpr std::uint64_t leftover_ns = second_ns / 5; // for what outlives the program
constexpr std::uint64_t between_questions_ns = second_ns / 200;
constexpr int most_kills = 250; // 20 ms apart: 5 s
constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

const char* ending_signal_name(int signal) {
  switch (signal) {
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    case SIGHUP:
      return "SIGHUP";
    default:
      return "SIGQUIT";
  }
}

/// Readable when the parent process ends. PR_SET_PDEATHSIG alone would fire already when the thread
/// that started us ends, which is not a reason to stop.
int watch_parent() {
  const auto descriptor = static_cast<int>(syscall(SYS_pidfd_open, getppid(), 0));
  if (descriptor < 0) prctl(PR_SET_PDEATHSIG, SIGTERM);
  return descriptor;
}

/// Kills every child that the launcher has now; as subreaper it inherits those that were left.
void kill_children() {
  char path[64];
  std::snprintf(path, sizeof path, "/proc/self/task/%d/children", static_cast<int>(getpid()));
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  char text[4096];
  const ssize_t got = read(file, text, sizeof text - 1);
  close(file);
  text[got < 0 ? 0 : got] = '\0';
  for (char *at = text, *end = nullptr;; at = end) {
    const long pid = std::strtol(at, &end, 10);
    if (end == at) return;
    if (pid > 0) kill(static_cast<pid_t>(pid), SIGKILL);
  }
}

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

} // namespace

supervisor::supervisor() {
  // Those who ignore the ends of their children hand that on, and a child would end unnoticed.
  signal(SIGCHLD, SIG_DFL);
  sigemptyset(&waited_for_);
  sigaddset(&waited_for_, SIGCHLD);
  for (const int signal : ending_signals) sigaddset(&waited_for_, signal);
  sigprocmask(SIG_BLOCK, &waited_for_, nullptr);
  signal(SIGPIPE, SIG_IGN);
  signals_ = signalfd(-1, &waited_for_, SFD_CLOEXEC | SFD_NONBLOCK);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  parent_ = watch_parent();
}

outcome supervisor::watch(const started_child& child, double timeout_s, const starter& beside,
                          call_watch& calls, output_stream& out, output_stream& err,
                          memory_curve& memory) {
  child_ = child;
  beside_ = beside;
  partner_ = beside.descriptor();
  memory.start(child.pid, now_ns());
  if (timeout_s > 0) {
    deadline_ns_ =
        now_ns() + static_cast<std::uint64_t>(timeout_s * static_cast<double>(second_ns));
  }
  while (!over()) poll_once(calls, out, err, memory);
  return outcome_;
}

bool supervisor::over() const {
  return tree_gone_ && child_.stdout_pipe < 0 && child_.stderr_pipe < 0;
}

void supervisor::poll_once(call_watch& calls, output_stream& out, output_stream& err,
                           memory_curve& memory) {
  pollfd watched[] = {{signals_, POLLIN, 0},           {child_.stdout_pipe, POLLIN, 0},
                      {child_.stderr_pipe, POLLIN, 0}, {parent_, POLLIN, 0},
                      {partner_, POLLIN, 0},           {calls.descriptor(), POLLIN, 0}};
  const std::uint64_t now = now_ns();
  // A sandbox may refuse signalfd: then the signals are asked for now and then.
  const std::uint64_t ask_ns = signals_ >= 0 ? without_end : now + between_questions_ns;
  const std::uint64_t next_ns = std::min({deadline_ns_, memory.due_ns(), ask_ns});
  const std::uint64_t left_ns = next_ns > now ? next_ns - now : 0;
  const bool known = wait_until_ready(watched, next_ns == without_end ? without_end : left_ns);
  const bool ended_before = ended();
  if (watched[0].revents != 0 || signals_ < 0 || !known) take_signals();
  const bool ask_pipes = (ended() && !ended_before) || !known; // their reads do not wait
  const std::uint64_t bytes = out.bytes() + err.bytes();
  // What the program itself wrote is in the pipes when it ends.
  if (watched[1].revents != 0 || ask_pipes) drain(child_.stdout_pipe, out);
  if (watched[2].revents != 0 || ask_pipes) drain(child_.stderr_pipe, err);
  if (ended_before) outcome_.late_output_bytes += out.bytes() + err.bytes() - bytes;
  if (watched[3].revents != 0) {
    parent_ = -1;
    outcome_.stopped_by = "parent";
    ask_to_end();
  }
  if (watched[4].revents != 0) {
    partner_ = -1;
    end_at_once();
  }
  if (watched[5].revents != 0) calls.answer((watched[5].revents & POLLIN) == 0);
  if (ended()) memory.stop();
  if (now_ns() >= memory.due_ns()) memory.look();
  if (now_ns() >= deadline_ns_) on_deadline();
}

void supervisor::drain(int& pipe, output_stream& into) {
  if (pipe < 0 || into.drain(pipe)) return;
  close(pipe);
  pipe = -1;
}

void supervisor::take_signals() {
  if (signals_ >= 0) {
    signalfd_siginfo info{};
    while (read(signals_, &info, sizeof info) == sizeof info) {
      take_signal(static_cast<int>(info.ssi_signo));
    }
    return;
  }
  constexpr timespec at_once{};
  for (int signal = 0; (signal = sigtimedwait(&waited_for_, nullptr, &at_once)) > 0;) {
    take_signal(signal);
  }
}

void supervisor::take_signal(int signal) {
  if (signal == SIGCHLD) {
    reap();
    return;
  }
  outcome_.stopped_by = ending_signal_name(signal);
  ask_to_end();
}

void supervisor::reap() {
  // Those that are reaped together with the program had ended before it.
  const bool late = ended();
  while (true) {
    int status = 0;
    rusage usage{};
    const pid_t pid = wait4(-1, &status, WNOHANG | WUNTRACED, &usage);
    if (pid == 0) break;
    if (pid < 0) {
      tree_gone_ = true; // ECHILD
      break;
    }
    if (WIFSTOPPED(status)) {
      if (pid == child_.pid) on_stop(WSTOPSIG(status));
      continue;
    }
    add(usage);
    if (late) add_late(usage);
    if (kills_ != 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) ++outcome_.lingering;
    if (pid != child_.pid) continue;
    outcome_.end_ns = now_ns();
    outcome_.status = status;
    beside_.tell_end();
    // Processes that it left may still be writing: a moment for them, then they are killed.
    enter(phase::leftovers, leftover_ns);
  }
}

void supervisor::add(const rusage& usage) {
  outcome_.peak_rss_bytes =
      std::max<std::int64_t>(outcome_.peak_rss_bytes, usage.ru_maxrss * 1024L);
  outcome_.user_s += seconds(usage.ru_utime);
  outcome_.system_s += seconds(usage.ru_stime);
  outcome_.minor_faults += usage.ru_minflt;
  outcome_.major_faults += usage.ru_majflt;
  outcome_.voluntary_switches += usage.ru_nvcsw;
  outcome_.involuntary_switches += usage.ru_nivcsw;
}

void supervisor::add_late(const rusage& usage) {
  outcome_.late_s = static_cast<double>(now_ns() - outcome_.end_ns) * 1e-9;
  outcome_.late_cpu_s += seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

void supervisor::enter(phase next, std::uint64_t deadline_ns) {
  phase_ = next;
  deadline_ns_ = now_ns() + deadline_ns;
}

void supervisor::ask_to_end() {
  if (phase_ != phase::running) return;
  kill(-child_.pid, SIGTERM);
  kill(-child_.pid, SIGCONT);
  enter(phase::asked_to_end, patience_ns);
}

void supervisor::end_at_once() {
  if (ended()) return;
  kill(-child_.pid, SIGKILL);
  enter(phase::killed, leftover_ns);
}

void supervisor::on_stop(int signal) {
  // Nobody continues it: a program that reads the terminal from the background is stopped again.
  if (phase_ != phase::running) return;
  outcome_.stop_signal = signal;
  ask_to_end();
}

void supervisor::on_deadline() {
  switch (phase_) {
    case phase::running:
      outcome_.timed_out = true;
      ask_to_end();
      break;
    case phase::asked_to_end:
    case phase::killed:
      kill(-child_.pid, SIGKILL);
      enter(phase::killed, leftover_ns);
      break;
    case phase::leftovers:
      kill_leftovers();
      break;
  }
}

void supervisor::kill_leftovers() {
  ++kills_;
  kill(-child_.pid, SIGKILL);
  kill_children();
  reap();
  // Killed children hand their own children to us, so this goes on until none is left; but what
  // cannot be found or killed (no /proc, a process stuck in the kernel) must not keep us here, nor
  // may one that is not a descendant but got hold of a pipe.
  enter(phase::leftovers, leftover_ns / 10);
  if (!tree_gone_ && kills_ < most_kills) return;
  tree_gone_ = true;
  for (int* pipe : {&child_.stdout_pipe, &child_.stderr_pipe}) {
    if (*pipe >= 0) close(*pipe);
    *pipe = -1;
  }
}

} // namespace heapwise::bench
