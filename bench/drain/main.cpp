// heapwise-record: runs one program, and writes what its threads allocate and free to a trace file;
// if asked to, also what its children do, to files of their own. recording_usage has the options.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>

#include "drain/options.hpp"
#include "drain/processes/pauses.hpp"
#include "drain/processes/program.hpp"
#include "drain/processes/recording.hpp"
#include "drain/processes/wake.hpp"
#include "drain/rings/pause_length.hpp"

namespace heapwise::bench {
namespace {

constexpr int exit_bad_usage = 2;
constexpr int exit_not_written = 5;

volatile sig_atomic_t wanted_signal = 0;
extern "C" void note_signal(int signal) {
  wanted_signal = signal;
  call_drain();
}
extern "C" void note_end_of_child(int) { call_drain(); }

void sleep_ns(long nanoseconds) {
  const timespec pause{0, nanoseconds};
  nanosleep(&pause, nullptr);
}

void handle_signals() {
  signal(SIGCHLD, SIG_DFL); // if it is ignored, which is inherited, no child has an exit code
  signal(SIGQUIT, SIG_IGN); // the terminal sends it to the program, too
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes fails, and is reported
  pauses::handle_signals();
  struct sigaction note{};
  note.sa_handler = note_signal;
  sigaction(SIGTERM, &note, nullptr);
  sigaction(SIGINT, &note, nullptr);
  struct sigaction before{};
  sigaction(SIGHUP, nullptr, &before);
  if (before.sa_handler != SIG_IGN) sigaction(SIGHUP, &note, nullptr); // nohup stays so
}

/// From now on the end of a child ends a wait. After the program was started, which keeps its own
/// signals.
void handle_ends() {
  struct sigaction note{};
  note.sa_handler = note_end_of_child;
  note.sa_flags = SA_RESTART | SA_NOCLDSTOP;
  sigaction(SIGCHLD, &note, nullptr);
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGCHLD);
  sigprocmask(SIG_UNBLOCK, &ends, nullptr);
}

/// Each process takes two files. After the program was started, which keeps its own limit.
void raise_limit_of_files() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

/// After it, the length of a tick is known well enough to choose units. How long a unit is, is
/// known from the whole recording. The program is loaded meanwhile.
void wait_for_tick(const tick_length& tick) {
  constexpr std::uint64_t enough_ns = 1'000'000;
  if (const std::uint64_t age = tick.age_ns(); age < enough_ns)
    sleep_ns(static_cast<long>(enough_ns - age));
}

/// Of SIGTERM and SIGHUP the program is told; the terminal sends SIGINT to it itself. If it has
/// ended, each of them ends the recording of its children.
void obey_signal(pid_t program, bool has_ended, recording& all) {
  const int wanted = wanted_signal;
  if (wanted == 0) return;
  wanted_signal = 0;
  if (has_ended) {
    all.stop();
  } else if (wanted != SIGINT) {
    kill(program, wanted);
  }
}

/// The program, and in a recording that follows children also those whose parents have ended: the
/// kernel makes them children of this process (prctl(2), PR_SET_CHILD_SUBREAPER). A child that has
/// not allocated yet is not known otherwise.
class started_processes {
 public:
  started_processes(pid_t program, bool follows) : program_{program}, follows_{follows} {}

  /// Returns true at the moment at which the program has ended.
  bool reap() {
    bool has_ended_now = false;
    int status = 0;
    pid_t ended = 0;
    while ((ended = waitpid(follows_ ? -1 : program_, &status, WNOHANG)) > 0) {
      if (ended != program_) continue;
      status_ = status;
      has_ended_now = true;
    }
    is_any_left_ = ended == 0;
    return has_ended_now;
  }

  [[nodiscard]] bool is_any_left() const noexcept { return is_any_left_; }
  [[nodiscard]] int status() const noexcept { return status_; }

 private:
  pid_t program_;
  bool follows_;
  bool is_any_left_ = true;
  int status_ = 0;
};

/// Says once why the command does not end, if children of the program go on for a while.
class reminder {
 public:
  void look(std::size_t running) {
    constexpr std::uint64_t patience_ns = 2'000'000'000;
    if (since_ == 0) since_ = now_ns();
    if (was_said_ || now_ns() - since_ < patience_ns) return;
    was_said_ = true;
    std::fprintf(stderr,
                 "The program has ended; processes that it started go on, %zu of them recorded. "
                 "Ctrl-C ends the recording.\n",
                 running);
  }

 private:
  std::uint64_t since_ = 0;
  bool was_said_ = false;
};

/// Reads the rings until all processes have ended and they are empty.
void follow(pid_t program, trace_context& context, pauses& pausing, recording& all) {
  shared_memory& memory = context.all.memory();
  bool has_ended = false;
  started_processes started{program, memory.follows};
  reminder waits;
  const auto goes_on = [&] {
    return all.running() != 0 || (started.is_any_left() && !all.is_stopped());
  };
  while (goes_on()) {
    const std::uint32_t calls = memory.alarm.calls();
    if (started.reap()) {
      has_ended = true;
      all.end_first(started.status());
    }
    obey_signal(program, has_ended, all);
    if (pausing.look() && all.first_is_written()) {
      all.resume();
      pausing.resume();
    }
    if (pausing.take_flush()) all.flush();
    const std::uint64_t taken = all.pass();
    if (!all.first_is_written())
      memory.recording.store(recording_state::off, std::memory_order_relaxed);
    const long pause_ns = pause_after(taken, context.all.has_left_much());
    if (pause_ns != 0 && !all.is_stopped() && goes_on()) all.wait(calls, pause_ns);
    if (has_ended) waits.look(all.running());
  }
}

int not_written(const std::string& path, int error) {
  std::fprintf(stderr, "error E051: %s cannot be written: %s\n", path.c_str(),
               std::strerror(error));
  return exit_not_written;
}

int record(const recording_options& asked) {
  const tick_length tick;
  rings shared{asked.stack_every};
  if (!shared.ok()) {
    std::fprintf(stderr, "error E056: no memory to share with the program: %s\n",
                 std::strerror(errno));
    return exit_not_written;
  }
  shared.memory().sample_every = asked.sample_every;
  shared.memory().frame_pointers = asked.frame_pointers ? 1 : 0;
  shared.memory().follows = asked.follows;
  size_budget budget{asked.most_bytes};
  frame_compressor compressor;
  trace_context context{shared, budget, compressor, asked.about};
  pauses pausing{shared.memory(), asked.starts_paused};
  recording all{context, tick, pausing, asked.trace};
  if (all.error() != 0) return not_written(asked.trace, all.error());
  const std::uint64_t start = stamp_now();
  if (asked.follows) prctl(PR_SET_CHILD_SUBREAPER, 1);
  // If the command that waits for this process is killed, the program is to end, too.
  if (!asked.result.empty()) prctl(PR_SET_PDEATHSIG, SIGTERM);
  int reason = 0;
  const pid_t program = start_program(asked, shared, reason);
  if (program < 0 || reason != 0) {
    std::fprintf(stderr, "error E010: %s cannot be started: %s\n", asked.program[0],
                 std::strerror(reason != 0 ? reason : errno));
    return exit_bad_usage;
  }
  raise_limit_of_files();
  wait_for_tick(tick);
  context.time_shift = tick.shift();
  all.begin_first(program, start);
  wake_by_signals(shared.memory().alarm);
  handle_ends();
  follow(program, context, pausing, all);
  if (!asked.result.empty()) {
    std::ofstream{asked.result} << all.result_json() << '\n';
    return all.error() == 0 ? 0 : exit_not_written; // who asked for the result says why
  }
  return all.error() == 0 ? 0 : not_written(all.failed_path(), all.error());
}

} // namespace
} // namespace heapwise::bench

int main(int argc, char** argv) {
  heapwise::bench::recording_options asked;
  if (!heapwise::bench::read_options(argc, argv, asked)) {
    std::fputs(heapwise::bench::recording_usage, stderr);
    return heapwise::bench::exit_bad_usage;
  }
  heapwise::bench::handle_signals();
  return heapwise::bench::record(asked);
}
