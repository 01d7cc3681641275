// The clock that gives memory back while the program does something else, or nothing.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Effects: lets the clock tick when there is memory that it could give back. Called without locks,
/// where memory became free.
void notice_free_memory() noexcept;

/// Effects: in a forked child, where there is no clock: lets the next one start.
void forget_clock() noexcept;

/// Effects: gives back all free pages at once. Returns: the bytes given back.
std::size_t purge_everything() noexcept;

/// Returns: the bytes given back so far.
[[nodiscard]] std::size_t purged_bytes() noexcept;

} // namespace heapwise::detail
