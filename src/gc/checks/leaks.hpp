// Blocks that were neither freed nor can be reached (option find_leaks).
#pragma once

#include <cstddef>

namespace heapwise::gc {

/// Effects: writes down which blocks in use have no mark. They get one now, and at every collection
/// until they are reported. Returns: the bytes of blocks that got one. Requires: marks are
/// complete, the world stands still.
[[nodiscard]] std::size_t find_leaks() noexcept;

/// Effects: reports what was written down, once. Blocks are not handed out before they were
/// reported. Requires: no lock.
void report_leaks() noexcept;

/// Effects: in the child of a fork, ends the reports that other threads had begun: the child does
/// not have those threads. Requires: the collector's lock.
void forget_other_reports() noexcept;

} // namespace heapwise::gc
