// Blocks that were neither freed nor can be reached (option find_leaks).
#pragma once

namespace heapwise::gc {

/// Effects: writes down which blocks in use have no mark. Requires: marks are complete, the world
/// stands still.
void find_leaks() noexcept;

/// Effects: reports what was written down, once. Requires: no lock.
void report_leaks() noexcept;

} // namespace heapwise::gc
