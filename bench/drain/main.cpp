// heapwise-record: runs one program, and writes what its threads allocate and free to a trace file.
//
//   heapwise-record -o FILE --recorder LIBRARY [--max-bytes N] [--stack-every N]
//                   [--frame-pointers 0|1] [--sample-every BYTES] [--start-paused 0|1]
//                   [--about JSON] [--result FILE] -- PROGRAM [ARGS]...
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <span>
#include <string>

#include "drain/pauses.hpp"
#include "drain/resolver.hpp"
#include "drain/rings.hpp"
#include "drain/trace_writer.hpp"
#include "kernel/clock.hpp"
#include "line/json_line.hpp"
#include "trace/stamp.hpp"

namespace heapwise::bench {
namespace {

constexpr int exit_bad_usage = 2;
constexpr int exit_not_written = 5;

/// Units of time in the file are at least this long: differences then need one byte.
constexpr double least_unit_ns = 10;

struct options {
  std::string trace;
  std::string recorder;
  std::string about = "{}";
  std::string result;
  std::uint64_t most_bytes = std::uint64_t{256} << 20;
  std::uint32_t stack_every = 256;
  bool frame_pointers = false;
  std::uint64_t sample_every = 0;
  bool starts_paused = false;
  char** program = nullptr;
};

volatile sig_atomic_t wanted_signal = 0;
extern "C" void note_signal(int signal) { wanted_signal = signal; }

bool read_options(int argc, char** argv, options& read) {
  int i = 1;
  for (; i + 1 < argc && std::strcmp(argv[i], "--") != 0; i += 2) {
    const std::string name = argv[i];
    char* value = argv[i + 1];
    if (name == "-o") {
      read.trace = value;
    } else if (name == "--recorder") {
      read.recorder = value;
    } else if (name == "--about") {
      read.about = value;
    } else if (name == "--result") {
      read.result = value;
    } else if (name == "--max-bytes") {
      read.most_bytes = std::strtoull(value, nullptr, 10);
    } else if (name == "--stack-every") {
      read.stack_every = static_cast<std::uint32_t>(std::strtoul(value, nullptr, 10));
    } else if (name == "--frame-pointers") {
      read.frame_pointers = std::strcmp(value, "1") == 0;
    } else if (name == "--start-paused") {
      read.starts_paused = std::strcmp(value, "1") == 0;
    } else if (name == "--sample-every") {
      read.sample_every = std::strtoull(value, nullptr, 10);
    } else {
      return false;
    }
  }
  if (i + 1 >= argc || std::strcmp(argv[i], "--") != 0) return false;
  read.program = argv + i + 1;
  return !read.trace.empty() && !read.recorder.empty();
}

/// The length of a tick, from what passes on both clocks.
class tick_length {
 public:
  tick_length() : start_ns_{now_ns()}, start_ticks_{stamp_now()} {}

  [[nodiscard]] double ns() const {
    const std::uint64_t ticks = stamp_now() - start_ticks_;
    return static_cast<double>(now_ns() - start_ns_) / static_cast<double>(ticks);
  }

  [[nodiscard]] std::uint64_t start_ticks() const noexcept { return start_ticks_; }

 private:
  std::uint64_t start_ns_;
  std::uint64_t start_ticks_;
};

void sleep_ns(long nanoseconds) {
  const timespec pause{0, nanoseconds};
  nanosleep(&pause, nullptr);
}

/// Ends a pause of the drain early if the process ends.
class process_end {
 public:
  explicit process_end(pid_t process)
      : file_{static_cast<int>(syscall(SYS_pidfd_open, process, 0))} {}
  ~process_end() {
    if (file_ >= 0) close(file_);
  }
  process_end(const process_end&) = delete;
  process_end& operator=(const process_end&) = delete;

  void wait(long nanoseconds) const {
    const timespec pause{0, nanoseconds};
    pollfd end{file_, POLLIN, 0}; // poll does not look at a negative file
    ppoll(&end, 1, &pause, nullptr);
  }

 private:
  int file_;
};

unsigned shift_for(double tick_ns) {
  unsigned shift = 0;
  while (static_cast<double>(1U << shift) * tick_ns < least_unit_ns) ++shift;
  return shift;
}

/// Returns the process, or -1 with errno; `error` gets the reason if exec failed.
pid_t start(const options& asked, rings& all, int& error) {
  int report[2];
  if (pipe2(report, O_CLOEXEC) != 0) return -1;
  const std::string path =
      "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(all.file());
  const char* preloaded = std::getenv("LD_PRELOAD");
  const std::string preload = preloaded != nullptr && *preloaded != '\0'
                                  ? asked.recorder + ":" + preloaded
                                  : asked.recorder;
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(127);
    all.memory().process.store(getpid(), std::memory_order_relaxed);
    setenv("LD_PRELOAD", preload.c_str(), 1);
    setenv(record_variable, path.c_str(), 1);
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    execvp(asked.program[0], asked.program);
    const int reason = errno;
    [[maybe_unused]] const ssize_t told = write(report[1], &reason, sizeof reason);
    _exit(127);
  }
  close(report[1]);
  if (child < 0 || read(report[0], &error, sizeof error) <= 0) error = 0;
  close(report[0]);
  return child;
}

bool thread_is_gone(pid_t process, std::int32_t thread) {
  const std::string path = "/proc/" + std::to_string(process) + "/task/" + std::to_string(thread);
  return access(path.c_str(), F_OK) != 0;
}

/// Reads the rings until the program has ended and they are empty. Returns its wait status.
int follow(pid_t child, rings& all, resolver& trace, const trace_writer& file, pauses& pausing,
           unsigned shift) {
  // A ring of samples fills slowly, and the drain is to take no time from the program.
  const long pause_ns = all.memory().sample_every != 0 ? 50'000'000 : 500'000;
  const process_end end{child};
  constexpr int passes_between_looks = 200;
  const double tick_ns = least_unit_ns / static_cast<double>(1U << shift);
  const auto margin = static_cast<std::uint64_t>(1e6 / tick_ns);   // 1 ms
  const auto patience = static_cast<std::uint64_t>(2e9 / tick_ns); // 2 s
  const auto take = [&](std::span<const call> calls) { trace.take(calls); };
  bool ended = false;
  int status = 0;
  for (int pass = 0;; ++pass) {
    if (!ended && waitpid(child, &status, WNOHANG) == child) ended = true;
    if (wanted_signal != 0 && !ended) {
      kill(child, wanted_signal);
      wanted_signal = 0;
    }
    if (pausing.look() && file.ok()) {
      all.drain(UINT64_MAX, take);
      trace.give_up_waiting(UINT64_MAX);
      // The ends of samples are written down in a pause, too.
      if (all.memory().sample_every == 0) {
        const call resumed{stamp_now(), 0, 0, 0, 0, 0, event_kind::resumed, 0};
        trace.take({&resumed, 1});
      }
      pausing.resume();
    }
    const std::uint64_t now = stamp_now();
    const std::uint64_t taken = all.drain(ended ? UINT64_MAX : now - margin, take);
    if (!file.ok() && !ended)
      all.memory().recording.store(recording_state::off, std::memory_order_relaxed);
    if (pass % passes_between_looks == 0) {
      all.reclaim([&](std::int32_t thread) { return ended || thread_is_gone(child, thread); });
      trace.give_up_waiting(now - patience);
    }
    if (ended && taken == 0) break;
    if (taken == 0) end.wait(pause_ns);
  }
  return status;
}

std::string modules_json(const rings& all) {
  const shared_memory& memory = all.memory();
  const std::uint32_t bytes = memory.maps.bytes.load(std::memory_order_acquire);
  std::string buffer(all.sites().addresses().size() * 24 + std::size_t{bytes} * 6 + 4096, '\0');
  json_line line{buffer.data(), buffer.size()};
  const std::string text{memory.maps.text, bytes};
  line.open('{').field("maps", text.c_str()).key("sites").open('[');
  for (const std::uint64_t address : all.sites().addresses()) line.value(address);
  line.close(']').close('}');
  return std::string{line.text()};
}

std::string summary_json(const rings& all, const shared_memory& memory, const resolver& trace,
                         const trace_writer& file, const pauses& pausing, double ns_a_unit,
                         double seconds, int status) {
  const recording_totals& totals = trace.totals();
  char buffer[8192];
  json_line line{buffer, sizeof buffer};
  line.open('{');
  line.field("events", totals.events).field("kept_events", file.kept_events());
  line.field("windows", static_cast<std::uint64_t>(file.windows()));
  line.field("blocks", totals.blocks).field("bytes", totals.bytes);
  line.field("peak_live_bytes", totals.peak_live_bytes);
  line.field("peak_live_blocks", totals.peak_live_blocks);
  line.field("end_live_blocks", static_cast<std::uint64_t>(trace.live_count()));
  line.field("end_live_bytes", trace.live_bytes());
  line.field("unknown_ends", totals.unknown_ends).field("lost_ends", totals.lost_ends);
  line.field("late_events", totals.late_events);
  line.field("threads", static_cast<std::uint64_t>(all.threads_seen()));
  line.field("threads_missed", memory.threads_missed.load());
  line.field("events_missed", memory.events_missed.load());
  line.field("other_processes", memory.other_processes.load());
  line.field("images", static_cast<std::uint64_t>(memory.images.load()));
  line.field("pauses", pausing.count()).field("paused_s", pausing.seconds());
  line.field("ns_a_unit", ns_a_unit).field("wall_s", seconds);
  line.key("exit_code");
  WIFEXITED(status) ? line.value(WEXITSTATUS(status)) : line.null();
  line.key("signal");
  WIFSIGNALED(status) ? line.value(WTERMSIG(status)) : line.null();
  line.key("calls").open('[');
  for (const std::uint64_t each : totals.calls) line.value(each);
  line.close(']').close('}');
  return std::string{line.text()};
}

int record(const options& asked) {
  const tick_length tick;
  rings all{asked.stack_every};
  if (!all.ok()) {
    std::fprintf(stderr, "error E070: no memory to share with the program: %s\n",
                 std::strerror(errno));
    return exit_not_written;
  }
  all.memory().sample_every = asked.sample_every;
  all.memory().frame_pointers = asked.frame_pointers ? 1 : 0;
  constexpr long calibration_ns = 20'000'000;
  sleep_ns(calibration_ns);
  const unsigned shift = shift_for(tick.ns());
  const std::uint64_t began_ns = now_ns();
  trace_writer file{asked.trace, asked.most_bytes, asked.about};
  if (!file.ok()) {
    std::fprintf(stderr, "error E051: %s cannot be written: %s\n", asked.trace.c_str(),
                 std::strerror(file.error()));
    return exit_not_written;
  }
  resolver trace{file, all.sites(), all.stacks(), stamp_now(), shift};
  pauses pausing{all.memory(), asked.starts_paused};
  int reason = 0;
  const pid_t child = start(asked, all, reason);
  if (child < 0 || reason != 0) {
    std::fprintf(stderr, "error E010: %s cannot be started: %s\n", asked.program[0],
                 std::strerror(reason != 0 ? reason : errno));
    return exit_bad_usage;
  }
  const int status = follow(child, all, trace, file, pausing, shift);
  const double seconds = static_cast<double>(now_ns() - began_ns) * 1e-9;
  trace.give_up_waiting(UINT64_MAX);
  trace.flush();
  file.write_text(frame_kind::modules, modules_json(all));
  const std::string summary =
      summary_json(all, all.memory(), trace, file, pausing,
                   tick.ns() * static_cast<double>(1U << shift), seconds, status);
  file.write_text(frame_kind::summary, summary);
  file.finish();
  if (!asked.result.empty()) std::ofstream{asked.result} << summary << '\n';
  if (!file.ok()) {
    std::fprintf(stderr, "error E051: %s cannot be written: %s\n", asked.trace.c_str(),
                 std::strerror(file.error()));
    return exit_not_written;
  }
  return 0;
}

} // namespace
} // namespace heapwise::bench

int main(int argc, char** argv) {
  heapwise::bench::options asked;
  if (!heapwise::bench::read_options(argc, argv, asked)) {
    std::fprintf(stderr,
                 "error E003: heapwise-record -o FILE --recorder LIBRARY [--max-bytes N]\n"
                 "    [--stack-every N] [--frame-pointers 0|1] [--sample-every BYTES]\n"
                 "    [--start-paused 0|1] [--about JSON] [--result FILE] -- PROGRAM [ARGS]...\n");
    return heapwise::bench::exit_bad_usage;
  }
  signal(SIGINT, SIG_IGN); // the terminal sends it to the program, too
  signal(SIGQUIT, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN); // a write beyond the limit of file sizes fails, and is reported
  heapwise::bench::pauses::handle_signals();
  struct sigaction forward{};
  forward.sa_handler = heapwise::bench::note_signal;
  sigaction(SIGTERM, &forward, nullptr);
  return heapwise::bench::record(asked);
}
