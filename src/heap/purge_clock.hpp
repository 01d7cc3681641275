// The clock that gives memory back while the program does something else, or nothing.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Effects: lets the clock tick when there is memory that it could give back. Called without locks,
/// where memory became free.
void notice_free_memory() noexcept;

/// Effects: with `keep`, the clock gives nothing back from now on; without, it does again.
void keep_free_memory(bool keep) noexcept;

/// Effects: in a forked child, where there is no clock: lets the next one start. `forked_in_pause`:
/// the clock was paused; if it waited for a lock that the forking thread holds, it goes on.
void forget_clock(bool forked_in_pause) noexcept;

} // namespace heapwise::detail
