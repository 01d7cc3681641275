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

} // namespace heapwise::detail
