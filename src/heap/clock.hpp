// The clock that gives memory back while the program does something else, or nothing.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Effects: lets the clock tick when there is memory that it could give back. Called without locks,
/// where memory became free.
void notice_free_memory() noexcept;

/// Effects: in a forked child, where there is no clock: lets the next one start.
void forget_clock() noexcept;

} // namespace heapwise::detail
