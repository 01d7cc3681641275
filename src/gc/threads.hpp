// Threads whose stacks are roots, and how they are stopped.
#pragma once

#include "gc/state.hpp"

namespace heapwise::gc {

/// Effects: lets `interrupt` and the ends of threads reach the collector. Called once.
[[nodiscard]] bool watch_threads() noexcept;

/// Effects: as heapwise_gc_register_thread and heapwise_gc_unregister_thread.
[[nodiscard]] bool register_this_thread() noexcept;
void unregister_this_thread() noexcept;

/// Effects: all other registered threads stand still when it returns, none of them getting a
/// window, until `resume_world`. Requires: the lock. The first half may wait for threads to get
/// their windows; the second does not.
void lock_threads() noexcept;
void unlock_threads() noexcept;
void stop_world() noexcept;
void resume_world() noexcept;

/// Effects: in a forked child, forgets all threads but the calling one. Requires: the lock.
void forget_other_threads() noexcept;

} // namespace heapwise::gc
