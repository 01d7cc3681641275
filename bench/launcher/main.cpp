// heapwise-launch: starts one program and reports what the kernel knows of it.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "kernel/clock.hpp"
#include "launcher/calls/call_watch.hpp"
#include "launcher/facts/counters.hpp"
#include "launcher/facts/machine.hpp"
#include "launcher/facts/processors.hpp"
#include "launcher/facts/throttling.hpp"
#include "launcher/facts/writing.hpp"
#include "launcher/memory/control_group.hpp"
#include "launcher/memory/group_memory.hpp"
#include "launcher/memory/memory_curve.hpp"
#include "launcher/start/child.hpp"
#include "launcher/start/handed_files.hpp"
#include "launcher/start/options.hpp"
#include "launcher/start/probe_lines.hpp"
#include "launcher/start/starter.hpp"
#include "launcher/start/supervisor.hpp"
#include "launcher/watched_process.hpp"

namespace heapwise::bench {
namespace {

constexpr int exit_bad_usage = 2;
constexpr int exit_not_written = 5;

output_stream out;
output_stream err;

struct measured {
  explicit measured(const launch_options& options)
      : seen{options.pinned ? options.cpus : cpu_list::of_this_thread()},
        charged{group},
        memory{options.memory_moments, &charged} {}

  started_child child;
  outcome end;
  std::uint64_t start_ns = 0;
  double wall_s = 0;
  processors seen;
  control_group group;
  group_memory charged;
  memory_curve memory;
  counters counted;
  throttling throttled;
  std::int64_t steal_ticks = 0;
  std::int64_t psi_cpu_us = 0;
  std::int64_t written_elsewhere = -1;
  std::int64_t own_peak_bytes = -1;
  probe_lines lines;
  call_watch calls;
};

/// Returns: false if the program was not to be started.
bool start_and_watch(const launch_options& options, supervisor& watcher, measured& result) {
  const handed_files files{options.environment};
  const starter beside{options.starter};
  if (!beside.wait()) return false;
  const std::uint64_t start_ns = now_ns();
  if (options.watch_names) result.calls.prepare(options.own_folder);
  result.child = start_child(options, files, result.group, result.calls);
  result.calls.begin(result.child.not_watched);
  if (result.child.pid <= 0) return true;
  if (result.group.is_own() && !result.child.in_own_group) {
    result.group.give_up("the program could not enter its control group");
  }
  result.charged.begin(result.child.entering_ns);
  result.start_ns = start_ns + result.child.entering_ns;
  result.end =
      watcher.watch(result.child, options.timeout_s, beside, result.calls, out, err, result.memory);
  result.charged.end();
  const std::uint64_t program_ns = result.end.end_ns - start_ns - result.child.entering_ns;
  result.wall_s = static_cast<double>(program_ns) * 1e-9;
  return true;
}

/// Its output, the lines of the probe, and one byte with which it entered its control group.
written_for_us count_ours(const launch_options& options, const measured& result) {
  struct stat probe{};
  const char* path = find_setting(options.environment, probe_variables.path);
  const bool probed = path != nullptr && stat(path, &probe) == 0;
  const auto output = static_cast<std::int64_t>(out.bytes() + err.bytes());
  return {output + (result.child.in_own_group ? 1 : 0), probed ? probe.st_size : 0};
}

/// Returns: false if the program was not to be started.
bool run(const launch_options& options, measured& result) {
  supervisor watcher;
  if (options.memory_moments != 0) result.group.prepare();
  if (options.starter < 0) result.seen.look_before(); // beside another, every moment is shared
  const throttling before = throttling::now();
  const std::int64_t steal = read_steal_ticks();
  const std::int64_t psi = read_psi_cpu_us();
  const writing written = writing::now();
  if (!start_and_watch(options, watcher, result)) return false;
  if (!options.pass_stdout) { // what is passed on was not counted here
    result.written_elsewhere = writing::now().since(written, count_ours(options, result));
  }
  const std::int64_t steal_after = read_steal_ticks();
  const std::int64_t psi_after = read_psi_cpu_us();
  result.steal_ticks = steal < 0 ? -1 : steal_after - steal;
  result.psi_cpu_us = psi < 0 ? -1 : psi_after - psi;
  result.throttled = throttling::now().since(before);
  result.counted.stop();
  if (options.starter < 0) result.seen.look_after();
  result.group.remove();
  result.own_peak_bytes = read_own_peak_bytes(); // before the lines of the probe fill memory
  result.lines = probe_lines::compact(find_setting(options.environment, probe_variables.path));
  return true;
}

void write_number_or_null(json_line& line, const char* name, std::int64_t number) {
  line.key(name);
  number < 0 ? line.null() : line.value(number);
}

void write_text_or_null(json_line& line, const char* name, const char* text) {
  line.key(name);
  text == nullptr ? line.null() : line.value(text);
}

/// SIGSEGV, or null for 0 and for a signal without a name.
void write_signal_name(json_line& line, const char* key, int signal) {
  char name[16] = "SIG";
  const char* short_name = signal == 0 ? nullptr : sigabbrev_np(signal);
  if (short_name != nullptr) std::strncat(name, short_name, sizeof name - 4);
  write_text_or_null(line, key, short_name == nullptr ? nullptr : name);
}

void write_ending(json_line& line, const measured& result) {
  const int status = result.end.status;
  const bool started = result.child.error == 0;
  const bool signalled = started && WIFSIGNALED(status);
  write_number_or_null(line, "exit_code", started && WIFEXITED(status) ? WEXITSTATUS(status) : -1);
  write_number_or_null(line, "signal", signalled ? WTERMSIG(status) : -1);
  write_signal_name(line, "signal_name", signalled ? WTERMSIG(status) : 0);
  line.field("timed_out", result.end.timed_out);
  write_signal_name(line, "stop_signal", result.end.stop_signal);
}

void write_usage(json_line& line, const outcome& end) {
  line.field("user_s", end.user_s).field("system_s", end.system_s);
  line.field("peak_rss_bytes", end.peak_rss_bytes);
  line.field("minor_faults", end.minor_faults).field("major_faults", end.major_faults);
  line.field("voluntary_switches", end.voluntary_switches);
  line.field("involuntary_switches", end.involuntary_switches);
}

/// What is passed on was not seen here.
void write_output(json_line& line, bool passed_on, std::int64_t elsewhere) {
  char hash[32];
  std::snprintf(hash, sizeof hash, "xxh3:%016llx", static_cast<unsigned long long>(out.hash()));
  write_number_or_null(line, "output_bytes",
                       passed_on ? -1 : static_cast<std::int64_t>(out.bytes()));
  write_text_or_null(line, "output_hash", passed_on ? nullptr : hash);
  line.field("error_bytes", err.bytes());
  write_number_or_null(line, "written_elsewhere_bytes", elsewhere);
}

std::string_view describe(const measured& result, const launch_options& options) {
  static char buffer[512 * 1024]; // a memory curve at its longest
  json_line line{buffer, sizeof buffer};
  line.open('{').field("schema", 1).field("wall_s", result.wall_s);
  line.field("start_ns", result.start_ns).field("end_ns", result.end.end_ns);
  write_usage(line, result.end);
  write_ending(line, result);
  write_output(line, options.pass_stdout, result.written_elsewhere);
  result.calls.write(line.key("changed_names"));
  result.child.affinity.write(line.key("affinity"));
  write_number_or_null(line, "slice_ns", result.child.slice_ns);
  line.field("spin_before_ns", result.seen.spin_before_ns());
  line.field("spin_after_ns", result.seen.spin_after_ns());
  result.seen.write(line.key("processors"));
  write_number_or_null(line, "steal_ticks", result.steal_ticks);
  write_number_or_null(line, "psi_cpu_us", result.psi_cpu_us);
  write_number_or_null(line, "throttled_periods", result.throttled.periods);
  write_number_or_null(line, "throttled_us", result.throttled.time_us);
  result.counted.write(line.key("counters"));
  write_text_or_null(line, "counters_missing", result.counted.missing());
  write_number_or_null(line, "launcher_rss_bytes", result.own_peak_bytes);
  write_text_or_null(line, "start_error",
                     result.child.error == 0 ? nullptr : std::strerror(result.child.error));
  line.field("lingering", result.end.lingering).field("late_s", result.end.late_s);
  line.field("late_cpu_s", result.end.late_cpu_s);
  line.field("late_output_bytes", result.end.late_output_bytes);
  write_text_or_null(line, "stopped_by", result.end.stopped_by);
  result.memory.write(line.key("memory"));
  result.charged.write(line.key("group"));
  write_text_or_null(line, "group_missing", result.group.missing());
  result.lines.write(line.key("probe"));
  return line.close('}').end_of_line().text();
}

bool write_result(const char* path, std::string_view text) {
  const int file =
      path == nullptr ? STDOUT_FILENO : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const bool whole = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  return (path == nullptr || close(file) == 0) && whole;
}

bool save(const output_stream& stream, const char* path) {
  return path == nullptr || std::strcmp(path, "/dev/null") == 0 || stream.save(path);
}

/// Only the time and the memory are known of a process that somebody else started.
int attach(const launch_options& options) {
  static memory_curve memory{options.memory_moments};
  static char buffer[512 * 1024];
  const double seconds = watch_attached(options, memory);
  json_line line{buffer, sizeof buffer};
  line.open('{').field("schema", 1);
  if (seconds >= 0) line.field("wall_s", seconds);
  write_text_or_null(line, "start_error", seconds < 0 ? "there is no such process" : nullptr);
  memory.write(line.key("memory"));
  return write_result(options.result_path, line.close('}').end_of_line().text()) ? 0
                                                                                 : exit_not_written;
}

int launch(int argc, char** argv, char** environment) {
  launch_options options;
  if (!read_launch_options(argc, argv, environment, options)) return exit_bad_usage;
  if (options.attached != 0) return attach(options);
  static measured result{options};
  if (!run(options, result)) return 0;
  const bool saved = save(out, options.stdout_path) && save(err, options.stderr_path);
  if (write_result(options.result_path, describe(result, options)) && saved) return 0;
  std::fprintf(stderr, "error E050: a result could not be written (%s)\n", std::strerror(errno));
  return exit_not_written;
}

} // namespace
} // namespace heapwise::bench

int main(int argc, char** argv, char** environment) {
  return heapwise::bench::launch(argc, argv, environment);
}
