// How the heap comes to life: at the first call of any thread, which may come before anything else
// in the process is ready.
#pragma once

namespace heapwise::detail {

/// Returns: whether the heap was started; then all that starting wrote can be read.
[[nodiscard]] bool heap_has_started() noexcept;

/// Effects: as the handlers of a fork, around a bare system call that makes a child with a copy of
/// the memory. Requires: os::has_one_library_thread(): else the child may not use the heap.
void prepare_bare_fork() noexcept;
void finish_bare_fork(bool in_the_child) noexcept;

} // namespace heapwise::detail
