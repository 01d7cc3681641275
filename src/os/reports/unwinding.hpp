// The calls that a thread is in, as unwind tables and frame pointers tell them.
#pragma once

#include <cstddef>

namespace heapwise::os {

/// Effects: `follow_calls` may use unwind tables from now on, if the C library tells where they are
/// (glibc 2.35). Takes the loader's lock. Called when the library is loaded.
void prepare_unwinding() noexcept;

/// Effects: writes the addresses that calls return to, the innermost first, beginning with the
/// caller. Follows unwind tables where there are any (x86-64), and frame pointers elsewhere. Reads
/// no memory that the system does not say can be read, allocates nothing, takes no lock and keeps
/// errno. Returns: how many addresses there are.
[[nodiscard]] std::size_t follow_calls(const void** into, std::size_t most) noexcept;

} // namespace heapwise::os
