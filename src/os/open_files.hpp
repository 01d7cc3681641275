// The C library's lock of its list of open files, which its `fork` takes after the handlers that
// `at_fork` registers.
#pragma once

namespace heapwise::os {

/// Effects: waits for the lock and takes it. A thread that holds it may take it again. Does nothing
/// if the C library has no such lock.
void lock_open_files() noexcept;

/// Effects: gives back what one call of `lock_open_files` took.
void unlock_open_files() noexcept;

/// Effects: in a forked child, whose only thread called `lock_open_files` before: nobody holds the
/// lock.
void free_open_files() noexcept;

} // namespace heapwise::os
