// How the heap comes to life: at the first call of any thread, which may come before anything else
// in the process is ready.
#pragma once

namespace heapwise::detail {

/// Effects: starts the heap once. Returns: whether it could be started; asked again, it tries
/// again. Thread safety: all.
[[nodiscard]] bool start_heap() noexcept;

} // namespace heapwise::detail
