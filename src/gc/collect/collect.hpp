// A collection from its beginning to its end.
#pragma once

#include <cstddef>

#include "gc/state/state.hpp"

namespace heapwise::gc {

/// Effects: collects; if it is `in_copy`, begins to. Returns: whether it is done. Requires: the
/// lock; a registered thread.
bool collect_now(bool in_copy) noexcept;

/// Effects: waits until the copy has marked, and takes over what it found. If that is of no use,
/// collects while the world stands still.
/// Requires: the lock; a registered thread; there is a copy.
void finish_copy() noexcept;

/// Effects: a thread has waited for a copy for this long. Requires: the lock.
void count_wait(std::size_t waited_ns) noexcept;

/// Effects: collects while the world stands still. Requires: the lock; a registered thread.
void collect_locked() noexcept;

/// Effects: collects, calls the visitor for each block that can be reached, and reports what was
/// lost. Requires: no lock.
void collect(heapwise_gc_block_visitor* visitor = nullptr, void* argument = nullptr) noexcept;

/// Effects: collects, and gives all free memory back to the system. Requires: no lock.
void collect_and_release() noexcept;

} // namespace heapwise::gc
