// A collection from its beginning to its end, and when there is one.
#pragma once

#include <cstddef>

#include "gc/state.hpp"

namespace heapwise::gc {

/// Effects: takes slices for blocks of a kind; collects before, if the heap has reached its target,
/// or if there are none. Returns: the first, or no_slice. Requires: the lock; a registered thread.
[[nodiscard]] slice_index take_slices(std::size_t count, kind block_kind) noexcept;

/// Effects: if a copy of the process has marked beside the program, ends the collection. Requires:
/// the lock; a registered thread.
void look_after_copy() noexcept;

/// Effects: gives a part of the memory back to the system that the heap does not keep after the
/// last collection. Returns: how many bytes are left of it. Requires: the lock.
std::size_t give_back_part() noexcept;

/// Effects: if a copy of the process marks and may not be done in time, the thread rests for a
/// moment. Called after take_slices. Requires: no lock; a registered thread.
void keep_pace() noexcept;

/// Effects: collects while the world stands still. Requires: the lock; a registered thread.
void collect_locked() noexcept;

/// Effects: collects, calls the visitor for each block that can be reached, and reports what was
/// lost. Requires: no lock.
void collect(heapwise_gc_block_visitor* visitor = nullptr, void* argument = nullptr) noexcept;

/// Effects: collects, and gives all free memory back to the system. Requires: no lock.
void collect_and_release() noexcept;

/// Effects: tells the program what collections have found: damage, and finalizers that are ready.
/// Requires: no lock.
void tell_program() noexcept;

/// Effects: the heap starts with its first target.
void set_first_target() noexcept;

} // namespace heapwise::gc
