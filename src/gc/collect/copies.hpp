// Copies of the process that mark: how they begin and end.
#pragma once

#include "gc/base/page_list.hpp"
#include "gc/base/root.hpp"

namespace heapwise::gc {

/// Effects: makes a copy that marks what can be reached from the roots. Returns: whether there is
/// one; if not, nothing changed. Requires: a world that stands still; no other copy; the lock, as
/// all that follows.
[[nodiscard]] bool start_copy(page_list<root>& roots) noexcept;

/// Returns: whether the copy has found all. Requires: there is one.
[[nodiscard]] bool copy_is_ready() noexcept;

/// Effects: waits until the copy has marked, not until it has ended. Returns: whether what it found
/// can be used: it found all, and the program has got none of the lost blocks from a weak reference
/// meanwhile. False at once if somebody has stopped it (SIGSTOP, a debugger).
[[nodiscard]] bool wait_for_copy() noexcept;

/// Effects: makes room for one more copy that has marked and has not ended: waits for the oldest of
/// them if there are most_leaving. Returns: whether it waited.
bool settle_leaving_copies() noexcept;

/// Effects: there is no copy any more. One that still marks is killed.
void end_copy() noexcept;

/// Effects: as end_copy, in a forked child: the copy is not one of it.
void forget_copy() noexcept;

} // namespace heapwise::gc
