// One attempt to stop the other threads.
#pragma once

#include <cstdint>

namespace heapwise::gc {

/// Effects: sends the signal to all threads that do not stand still, except those that have not
/// taken the last one yet. Forgets threads that have ended. Requires: the lock, those of the
/// threads, and an odd epoch.
void interrupt_others() noexcept;

/// Effects: waits, at most this long for the next thread. Forgets threads that have ended. Returns:
/// whether all stand still. Requires: as interrupt_others.
[[nodiscard]] bool others_stop(std::uint32_t patience_ms) noexcept;

/// Effects: writes one line to standard error for each thread that does not stand still. Requires:
/// as interrupt_others.
void report_running_threads() noexcept;

} // namespace heapwise::gc
