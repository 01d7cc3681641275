// A signal by which a program is asked for something.
#pragma once

namespace heapwise::os {

/// The largest number of a signal.
inline constexpr unsigned last_signal = 64;

/// Effects: from now on the signal calls `action`, in a handler, which leaves errno as it was.
/// Calls of the system that it interrupts go on. A handler that the program installs later takes
/// its place. Does nothing if the system refuses.
void answer_signal(unsigned signal, void (*action)()) noexcept;

/// Returns: the number of the calling process, and the seconds and nanoseconds of the clock of the
/// day as nanoseconds. Both are safe in a handler.
[[nodiscard]] unsigned process_number() noexcept;
[[nodiscard]] unsigned long long nanoseconds_of_day() noexcept;

} // namespace heapwise::os
