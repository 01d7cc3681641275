// Notes for the drain which programs a process and its children become: see exec_note.
#include <unistd.h>

#include <cerrno>

#include "probe/exec_report.hpp"
#include "probe/preload_fate.hpp"
#include "recorder/session.hpp"
#include "trace/kernel.hpp"
#include "trace/shared.hpp"

namespace heapwise::bench {

namespace {

constinit preloaded_here preload;

void note(pid_t process, const char* target, char* const* environment) noexcept {
  if (exec_note* const next = recorded.note_for(process); next != nullptr) {
    next->write(target, preload.fate_in(environment, record_variable));
  }
}

} // namespace

void remember_preload() noexcept { preload.remember(); }

void report_exec(const char* target, char* const* environment) noexcept {
  note(kernel::process_id(), target, environment);
}

void report_spawn(pid_t child, const char* target, char* const* environment) noexcept {
  note(child, target, environment);
}

/// Nobody knows the number of that process.
void report_shell(const char*, char* const*) noexcept {}

void report_failed_exec() noexcept {
  const int saved_errno = errno;
  recorded.forget_note_of(kernel::process_id());
  errno = saved_errno;
}

} // namespace heapwise::bench
