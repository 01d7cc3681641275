// Whether the program has put itself under a filter of system calls.
#pragma once

namespace heapwise::bench {

/// True from the first filter on that the process installs. Such a filter allows what an allocator
/// needs, and may end the process for any other call, so the recorder makes none that it can do
/// without. A filter that the process was started with (a container's, systemd's) does not count:
/// the recorder's constructor has made its calls under it.
/// Thread safety: safe; async-signal-safe.
[[nodiscard]] bool has_own_filter() noexcept;

} // namespace heapwise::bench
