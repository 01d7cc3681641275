// Says which program a process is about to become or has started, and whether the libraries that
// are preloaded here will be preloaded there.
#pragma once

#include <sys/types.h>

namespace heapwise::bench {

/// Effects: remembers where to report and what is preloaded here. Before it nothing is reported.
void remember_preload() noexcept;

/// Effects: appends a line; keeps errno. Called between vfork and exec, when the child uses the
/// memory of a parent with other threads: uses its own stack and the system's calls only.
/// `environment` is the one that `target` gets; it may be nullptr.
void report_exec(const char* target, char* const* environment) noexcept;

/// Effects: the same for a child that posix_spawn has started.
void report_spawn(pid_t child, const char* target, char* const* environment) noexcept;

/// Effects: the same for a shell that the C library starts out of our sight. Such a line is written
/// only if the shell does not get what is preloaded here: otherwise its own line is enough.
void report_shell(const char* target, char* const* environment) noexcept;

/// Effects: takes back the last line of report_exec in this process, because exec returned.
void report_failed_exec() noexcept;

} // namespace heapwise::bench
