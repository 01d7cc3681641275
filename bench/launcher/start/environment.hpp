// The environment of the program, handed over so that no other user can read it.
#pragma once

namespace heapwise::bench {

/// Effects: reads `file` to its end and closes it. Command lines are readable by every user, so the
/// environment comes through a descriptor: entries NAME=VALUE, each ended by a NUL byte.
/// Returns: the entries, null-terminated, which live until the process ends; nullptr if `file`
/// cannot be read or does not hold such entries.
char** read_environment(int file);

} // namespace heapwise::bench
