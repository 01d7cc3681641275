// A world that the program itself has stopped.
#pragma once

namespace heapwise::gc {

/// Effects: as heapwise_gc_stop_world and heapwise_gc_start_world. Requires: the collector is
/// started.
void hold_world() noexcept;
void release_world() noexcept;

/// Returns: whether the calling thread has stopped the world.
[[nodiscard]] bool holds_world() noexcept;

} // namespace heapwise::gc
