// The calls that lower rooms make upwards, by name. Every other include of the heap goes down: see
// the README. The room that has the function is named with it.
#pragma once

#include "heap/base/invalid.hpp"

namespace heapwise::detail {

// To faults: report.

/// Effects: by the option HEAPWISE_MALLOC_INVALID_FREE: reports and aborts (abort), reports (warn),
/// or nothing (ignore). Returns, if it does, with the address left alone. The profiles that check
/// every call always abort. A report is some lines on standard error, and one of JSON at the end of
/// the file that HEAPWISE_MALLOC_REPORT names. Nothing allocates meanwhile.
/// Requires: no lock is held.
void invalid_free(const void* address, invalid why) noexcept;

/// Effects: the same in a profile that checks every call, where it always ends the process.
/// Requires: such a profile, and that no lock is held.
[[noreturn]] void end_by_fault(const void* address, invalid why) noexcept;

// To front: start.

/// Effects: starts the heap once. Returns: whether it could be started; asked again, it tries
/// again. False at once if the calling thread is in the middle of it: in a function that a library
/// has put in the place of one of the C library, or in a signal handler. Thread safety: all.
[[nodiscard]] bool start_heap() noexcept;

/// Effects: in a copy of another process's memory that no handler of fork knows of: frees the locks
/// that threads of the parent held, if the calling thread is the only one.
void free_locks_of_parent() noexcept;

// To purge: memory became free.

/// Effects: lets the clock tick when there is memory that it could give back. Called without locks,
/// where memory became free.
void notice_free_memory() noexcept;

// To purge: memory is wanted.

/// Effects: brings the free blocks of the calling thread, of threads that have ended and between
/// threads back to their spans, and frees the spans without a block in use. Gives no pages back:
/// neither a limit of addresses nor the heap's own counts pages. The heap does so before a request
/// fails for lack of memory, and before it gives all free pages back.
/// Requires: the caller holds no lock of the heap. Thread safety: all.
[[gnu::cold]] void free_what_waits() noexcept;

/// Effects: if the heap has become larger than ever before, gives back what has been free for a
/// while. Called without locks, after slices were taken and before they are touched.
void purge_after_growth() noexcept;

} // namespace heapwise::detail
