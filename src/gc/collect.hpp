// A collection from its beginning to its end, and when there is one.
#pragma once

#include <cstddef>

#include "gc/state.hpp"

namespace heapwise::gc {

/// Effects: if the heap may not take so many more slices, collects, or lets it grow. Returns:
/// whether it may take them now. Requires: the lock; the caller's thread is registered.
[[nodiscard]] bool make_room(std::size_t slices) noexcept;

/// Effects: collects. Requires: the lock.
void collect_locked() noexcept;

/// Effects: collects, and reports what was lost. Requires: no lock.
void collect() noexcept;

/// Effects: the thread has no blocks to hand out any more. Requires: it has ended, or stands still.
void forget_blocks(thread_record& of_thread) noexcept;

/// Effects: the heap starts with its first target.
void set_first_target() noexcept;

} // namespace heapwise::gc
