// Slices for threads: what comes before the heap gets larger.
#pragma once

#include <cstddef>

#include "gc/space/space.hpp"

namespace heapwise::gc {

/// Effects: takes slices for blocks of a kind; collects before, if the heap has reached its target,
/// or if there are none. Returns: the first, or no_slice. Requires: the lock; a registered thread.
[[nodiscard]] slice_index take_slices(std::size_t count, kind block_kind) noexcept;

/// Effects: if a copy of the process has marked beside the program, ends the collection. Requires:
/// the lock; a registered thread.
void look_after_copy() noexcept;

/// Effects: if a copy of the process marks and may not be done in time, the thread rests for a
/// moment. Called after take_slices. Requires: no lock; a registered thread.
void keep_pace() noexcept;

} // namespace heapwise::gc
