// The functions that a thread is in.
#pragma once

#include <cstdint>

namespace heapwise::bench {

struct stack_trace {
  static constexpr int most_frames = 48;

  int count = 0;
  std::uint64_t frames[most_frames]; ///< return addresses, the caller first
};

/// The stack of this thread, from the function that `site` returns to. Empty if it cannot be
/// found. The unwinder may allocate and takes the loader's lock; so may the first call of a thread.
///
/// On another stack (of a coroutine, of a signal) the search ends where a frame cannot be read, or
/// has no rule. What a signal has interrupted is found if the unwinder has room on its stack.
[[nodiscard]] stack_trace stack_from(std::uint64_t site) noexcept;

/// The same by the unwinder of libgcc alone.
[[nodiscard]] stack_trace stack_by_unwinder(std::uint64_t site) noexcept;

/// The same by a rule for each frame, see caller_rule: some nanoseconds for a frame. Returns false
/// if a frame has none, or on another stack (of a signal, of a coroutine); then what is in `trace`
/// is of no use. Reads only between this function and the end of the thread's stack.
[[nodiscard]] bool stack_by_rules(std::uint64_t site, stack_trace& trace) noexcept;

/// The same by frame pointers: some nanoseconds for a frame instead of some hundred. A function
/// that was compiled without them, and what called it, may be missing or replaced by others.
///
/// Reads only between this function and the end of the thread's stack, upwards, so a broken chain
/// ends the search and nothing else. On another stack (of a signal, of a coroutine) only `site` is
/// found. The first call of a thread may allocate.
[[nodiscard]] stack_trace stack_by_frame_pointers(std::uint64_t site) noexcept;

} // namespace heapwise::bench
