// The blocks that threads were given and have not handed out yet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "gc/state/state.hpp"

namespace heapwise::gc {

/// What threads have done with blocks since the collector was started.
struct traffic {
  std::size_t allocated_bytes = 0;
  std::size_t freed_bytes = 0;
};

/// All of these require: the lock, and that of each thread (lock_threads).

/// Effects: the blocks in the windows of running threads get this mark: threads go on with the
/// windows they have, so nobody else may get these blocks. Returns: the bytes of those that had no
/// mark. Requires: a world that stands still.
std::size_t keep_all_windows(std::uint8_t with_mark) noexcept;

/// Effects: threads that have ended have no blocks to hand out any more.
void forget_idle_blocks() noexcept;

/// Effects: all threads begin with other spans; blocks that the program gave back are free as any
/// others.
void leave_spans() noexcept;

/// Effects: from now on every block that a thread gets into a window is marked as handed out; or no
/// block is.
void mark_handed_out(bool yes) noexcept;

/// Returns: the sums over all threads that there are and were.
[[nodiscard]] traffic count_traffic() noexcept;

} // namespace heapwise::gc
