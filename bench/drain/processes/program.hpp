// Starts the program that is recorded.
#pragma once

#include <sys/types.h>

#include "drain/options.hpp"
#include "drain/rings/rings.hpp"

namespace heapwise::bench {

/// Returns the process, which has the first entry, or -1 with errno. `error` gets the reason if
/// exec failed.
pid_t start_program(const recording_options& asked, rings& all, int& error);

} // namespace heapwise::bench
