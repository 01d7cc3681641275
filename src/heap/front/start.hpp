// How the heap comes to life: at the first call of any thread, which may come before anything else
// in the process is ready.
#pragma once

namespace heapwise::detail {

/// Effects: starts the heap once. Returns: whether it could be started; asked again, it tries
/// again. False at once if the calling thread is in the middle of it: in a function that a library
/// has put in the place of one of the C library, or in a signal handler. Thread safety: all.
[[nodiscard]] bool start_heap() noexcept;

/// Returns: whether the heap was started; then all that starting wrote can be read.
[[nodiscard]] bool heap_has_started() noexcept;

/// Effects: in a copy of another process's memory that no handler of fork knows of: frees the locks
/// that threads of the parent held, if the calling thread is the only one.
void free_locks_of_parent() noexcept;

/// Effects: as the handlers of a fork, around a bare system call that makes a child with a copy of
/// the memory. Requires: os::has_one_library_thread(): else the child may not use the heap.
void prepare_bare_fork() noexcept;
void finish_bare_fork(bool in_the_child) noexcept;

} // namespace heapwise::detail
