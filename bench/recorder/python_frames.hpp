// The functions of Python that a thread of CPython is in.
#pragma once

#include "recorder/stack_trace.hpp"

namespace heapwise::bench {

/// If this thread runs Python code, the interpreter's frames in the stack are replaced by the
/// frames of Python. Their addresses have the bit python_address; a line of maps_text says what
/// each means.
///
/// The frames are read as CPython 3.11, 3.12 and 3.13 lay them out. With any other version, and if
/// an object is not what its layout says, the stack stays as it is. Allocates nothing and calls
/// nothing that may.
void add_python_frames(stack_trace& stack) noexcept;

/// In a forked child: forgets what another thread was about to note when it was forked.
void leave_python_frames() noexcept;

/// No address of a program has this bit.
inline constexpr std::uint64_t python_address = std::uint64_t{1} << 47;

} // namespace heapwise::bench
