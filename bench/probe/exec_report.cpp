#include "probe/exec_report.hpp"

#include <unistd.h>

#include <cstring>

#include "line/json_line.hpp"
#include "probe/preload_fate.hpp"
#include "probe/report_file.hpp"

namespace heapwise::bench {
namespace {

constexpr std::size_t line_bytes = 1024; // on the stack of the program
constinit preloaded_here preload;

const char* fate_of_preload(char* const* environment) noexcept {
  return name_of(preload.fate_in(environment, probe_variables.path));
}

bool write_line(char (&buffer)[line_bytes], pid_t pid, const char* event, const char* target,
                const char* fate, std::string_view& text) noexcept {
  json_line line{buffer, sizeof buffer};
  line.open('{').field("pid", static_cast<int>(pid)).key(event).open('{');
  line.field("target", target != nullptr ? target : "").field("preload", fate);
  text = line.close('}').close('}').end_of_line().text();
  return line.ok();
}

void append(pid_t pid, const char* event, const char* target, const char* fate) noexcept {
  char buffer[line_bytes];
  std::string_view text;
  if (write_line(buffer, pid, event, target, fate, text) ||
      write_line(buffer, pid, event, "(a long path)", fate, text)) {
    report.append(text);
  }
}

} // namespace

void remember_preload() noexcept {
  if (preload.remember()) report.remember(probe_variables);
}

void report_exec(const char* target, char* const* environment) noexcept {
  if (report.remembered()) append(getpid(), "exec", target, fate_of_preload(environment));
}

void report_spawn(pid_t child, const char* target, char* const* environment) noexcept {
  if (report.remembered()) append(child, "spawn", target, fate_of_preload(environment));
}

void report_shell(const char* target, char* const* environment) noexcept {
  if (!report.remembered()) return;
  const char* fate = fate_of_preload(environment);
  if (std::strcmp(fate, "kept") != 0) append(getpid(), "lost", target, fate);
}

void report_failed_exec() noexcept {
  if (!report.remembered()) return;
  char buffer[64];
  json_line line{buffer, sizeof buffer};
  line.open('{').field("pid", static_cast<int>(getpid())).field("failed", true);
  report.append(line.close('}').end_of_line().text());
}

} // namespace heapwise::bench
