// What the forwarding functions of the counting probe share.
#pragma once

#include "probe/tally.hpp"

namespace heapwise::bench {

extern tally counted;

/// Writes the line of this process, once; does nothing in a child of vfork.
void report_counts() noexcept;

} // namespace heapwise::bench
