// The memory of a process that somebody else started.
#pragma once

#include "launcher/memory/memory_curve.hpp"
#include "launcher/start/options.hpp"

namespace heapwise::bench {

/// Effects: looks at the process and its descendants until it has ended, the time is up, or a
/// signal tells us to end. Returns: the seconds; less than 0 if there is no such process.
double watch_attached(const launch_options& options, memory_curve& memory);

} // namespace heapwise::bench
