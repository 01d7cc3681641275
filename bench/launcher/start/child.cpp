#include "launcher/start/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

#include "kernel/clock.hpp"
#include "launcher/calls/call_filter.hpp"
#include "launcher/start/time_slice.hpp"

namespace heapwise::bench {
namespace {

constexpr int pipe_bytes = 1 << 20; // the default limit of /proc/sys/fs/pipe-max-size

struct child_ends {
  int in = -1;
  int out = -1;
  int err = -1;
};

/// The kernel may wait for some milliseconds until all processors have seen the move.
void enter_group(const control_group& group, started_child& child) {
  if (!group.is_own()) return;
  const std::uint64_t before_ns = now_ns();
  child.in_own_group = group.enter();
  child.entering_ns = now_ns() - before_ns;
}

/// What the child does between vfork and exec; it shares the launcher's memory, so `child` and the
/// returned errno are seen by the launcher. Returns only if something failed.
int become_program(const launch_options& options, const handed_files& files, const child_ends& ends,
                   const control_group& group, const call_watch& calls, bool loses_rights,
                   started_child& child) {
  enter_group(group, child);
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (options.pinned && !options.cpus.apply()) return errno;
  child.affinity = cpu_list::of_this_thread();
  if (options.slice_ns != 0) child.slice_ns = take_time_slices(options.slice_ns);
  if (options.directory != nullptr && chdir(options.directory) != 0) return errno;
  if (dup2(ends.in, STDIN_FILENO) < 0 || dup2(ends.out, STDOUT_FILENO) < 0 ||
      dup2(ends.err, STDERR_FILENO) < 0) {
    return errno;
  }
  files.keep_open();
  if (options.watch_names) child.not_watched = calls.enter(loses_rights);
  execvpe(options.program[0], options.program, files.environment());
  return errno;
}

bool open_pipe(int& reading, int& writing) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return false;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  fcntl(ends[0], F_SETPIPE_SZ, pipe_bytes); // a hint: the child then waits less for the launcher
  reading = ends[0];
  writing = ends[1];
  return true;
}

} // namespace

started_child start_child(const launch_options& options, const handed_files& files,
                          const control_group& group, const call_watch& calls) {
  // Static: what the child writes through shared memory must not live in a register here.
  static started_child child;
  child_ends ends;
  ends.in = open(options.stdin_path, O_RDONLY | O_CLOEXEC);
  if (options.pass_stdout) ends.out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  if (ends.in < 0 || (!options.pass_stdout && !open_pipe(child.stdout_pipe, ends.out)) ||
      !open_pipe(child.stderr_pipe, ends.err)) {
    child.error = errno;
    return child;
  }
  const bool loses_rights = may_lose_rights(options.program[0]);
  const pid_t pid = vfork();
  if (pid == 0) {
    child.error = become_program(options, files, ends, group, calls, loses_rights, child);
    _exit(127);
  }
  if (pid < 0) child.error = errno;
  child.pid = pid;
  close(ends.in);
  close(ends.out);
  close(ends.err);
  return child;
}

} // namespace heapwise::bench
