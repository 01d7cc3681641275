// The functions that a thread is in.
#pragma once

#include <cstdint>

namespace heapwise::bench {

struct stack_trace {
  static constexpr int most_frames = 48;

  int count = 0;
  std::uint64_t frames[most_frames]; ///< return addresses, the caller first
};

/// The stack of this thread, from the function that `site` returns to: by a rule for each frame
/// (caller_rule), some nanoseconds each. Ends where a frame has no rule, or cannot be read; goes on
/// with what a signal has interrupted. The first look at a function takes the loader's lock, and
/// that of libgcc; if libgcc allocates, which may hold it, only `site` is found.
///
/// Where there are no rules (AArch64), by the unwinder of libgcc, which may allocate; on a stack of
/// a signal that has no room for it, only `site` is found.
[[nodiscard]] stack_trace stack_from(std::uint64_t site) noexcept;

/// The same by the unwinder of libgcc alone, which believes all that unwind tables say: those of a
/// program that changes its stack by hand may lead it to memory that cannot be read.
[[nodiscard]] stack_trace stack_by_unwinder(std::uint64_t site) noexcept;

/// The same by frame pointers: some nanoseconds for a frame instead of some hundred. A function
/// that was compiled without them, and what called it, may be missing or replaced by others.
///
/// Reads only between this function and the end of the thread's stack, upwards, so a broken chain
/// ends the search and nothing else. On another stack (of a signal, of a coroutine) only `site` is
/// found, also on that of a thread which calls this first under a filter of the program's own. The
/// first call of a thread may allocate.
[[nodiscard]] stack_trace stack_by_frame_pointers(std::uint64_t site) noexcept;

} // namespace heapwise::bench
