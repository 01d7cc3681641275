// Copies of this process, which look through memory as it was while the process goes on.
#pragma once

#include <cstddef>

namespace heapwise::os {

using copy_number = int;
inline constexpr copy_number no_copy = -1;
inline constexpr copy_number this_is_the_copy = 0;

/// Effects: makes a process with the memory of this one as it is now, and the calling thread alone.
/// It runs no signal handler of the program, ends when this process does, closes nothing of it,
/// leaves no core file, and `wait` of the C library does not find it. When memory is short, the
/// system ends the copy first. Calls no functions that were registered for a fork. Returns: twice,
/// as fork does: this_is_the_copy there; here its number, or no_copy if the system refuses, or if a
/// sanitizer would not bear it. Requires: the copy calls nothing that needs a lock which another
/// thread may hold, and ends with `end_copy`.
[[nodiscard]] copy_number copy_process() noexcept;

/// Effects: ends the copy that calls it, and nothing but it.
[[noreturn]] void end_copy() noexcept;

/// Effects: waits until the copy has ended. One that somebody has stopped (SIGSTOP, a debugger) is
/// killed. By any thread, once for each copy.
void wait_for_copy(copy_number copy) noexcept;

/// Returns: whether the copy has ended, without waiting for that. Once it has, it is not to be
/// waited for.
[[nodiscard]] bool copy_has_ended(copy_number copy) noexcept;

/// Returns: as copy_has_ended, after a short wait.
[[nodiscard]] bool copy_ends_soon(copy_number copy) noexcept;

/// Returns: whether somebody has stopped the copy (SIGSTOP, a debugger). False if the system does
/// not tell.
[[nodiscard]] bool is_stopped(copy_number copy) noexcept;

/// Effects: ends the copy, also one that is stopped, and waits until it has.
void kill_copy(copy_number copy) noexcept;

/// Effects: copies that are made from now on have the pages, or have not. Those that they do not
/// have cost nothing when a copy is made, nor when they are written afterwards. Requires: whole
/// pages of one mapping; children of a fork have them only if copies do.
void leave_out_of_copies(void* memory, std::size_t size_bytes, bool yes) noexcept;

/// Returns: fresh zeroed pages that this process and its copies write in common, or nullptr. They
/// take no physical memory until they are touched; `unmap` gives them back. Requires: size_bytes >
/// 0, a multiple of the page size.
[[nodiscard]] void* map_shared(std::size_t size_bytes) noexcept;

} // namespace heapwise::os
