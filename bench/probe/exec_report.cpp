#include "probe/exec_report.hpp"

#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "line/json_line.hpp"
#include "probe/report_file.hpp"

namespace heapwise::bench {
namespace {

constexpr std::size_t line_bytes = 1024; // on the stack of the program
char preload_here[4 * PATH_MAX];

/// Returns: the value of `name`; nullptr if `environment` does not have it.
const char* find(char* const* environment, std::string_view name) noexcept {
  if (environment == nullptr) return nullptr;
  for (; *environment != nullptr; ++environment) {
    const char* entry = *environment;
    if (std::strncmp(entry, name.data(), name.size()) == 0 && entry[name.size()] == '=') {
      return entry + name.size() + 1;
    }
  }
  return nullptr;
}

/// What becomes of the libraries that are preloaded here. "silent": they are preloaded, but the
/// probe there does not know where to report.
const char* fate_of_preload(char* const* environment) noexcept {
  const char* there = find(environment, "LD_PRELOAD");
  if (there == nullptr || there[0] == '\0') return "dropped";
  if (std::strstr(there, preload_here) == nullptr) return "changed";
  return find(environment, probe_variables.path) != nullptr ? "kept" : "silent";
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
  const char* preload = std::getenv("LD_PRELOAD");
  if (preload == nullptr || std::strlen(preload) >= sizeof preload_here) return;
  std::strcpy(preload_here, preload);
  report.remember(probe_variables);
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
