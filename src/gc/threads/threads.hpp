// Threads whose stacks are roots, and how they are stopped.
#pragma once

#include "gc/state/state.hpp"

namespace heapwise::gc {

/// Effects: lets `interrupt` and the ends of threads reach the collector. Called until it returns
/// true.
[[nodiscard]] bool watch_threads(int signal) noexcept;

/// Effects: as heapwise_gc_register_thread and heapwise_gc_unregister_thread.
[[nodiscard]] bool register_this_thread() noexcept;
void unregister_this_thread() noexcept;

/// Effects: registers the calling thread if that is left to the collector (option
/// `register_threads`). Returns: whether it is registered now. Requires: it is not yet; no lock.
[[nodiscard]] bool register_if_chosen() noexcept;

/// Effects: no other registered thread gets a window until `unlock_threads`. May wait for threads
/// to get their windows. Requires: the lock.
void lock_threads() noexcept;
void unlock_threads() noexcept;

/// Effects: all other registered threads stand still when it returns, until `resume_world`. Signals
/// are held in between, except those that end the process. Does not depend on anybody who stands
/// still. A thread that does not stop for a second is reported. Requires: the lock and those of the
/// threads.
void stop_world() noexcept;
void resume_world() noexcept;

/// Effects: in a forked child, forgets all threads but the calling one. Requires: the lock.
void forget_other_threads() noexcept;

} // namespace heapwise::gc
