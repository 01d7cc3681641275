// What the recorder asks the kernel, past the C library. A library that the program preloads may
// answer for `getpid`, `nanosleep` or `open`, and may look up names, allocate or wait in there:
// while the recorder is inside of a call of `free`, that could free the same block a second time.
// No function changes errno, and none is a place where a thread is cancelled.
#pragma once

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include "os/linux/system_call.hpp"

namespace heapwise::bench::kernel {

using os::system_answer;
using os::system_call;

inline pid_t process_id() noexcept { return static_cast<pid_t>(system_call(SYS_getpid).value()); }
inline pid_t parent_id() noexcept { return static_cast<pid_t>(system_call(SYS_getppid).value()); }
inline pid_t thread_id() noexcept { return static_cast<pid_t>(system_call(SYS_gettid).value()); }
inline bool is_first_thread() noexcept { return process_id() == thread_id(); }

/// Returns: a descriptor that programs that are executed do not get; negative after an error.
inline int open(const char* path, int flags) noexcept {
  return static_cast<int>(system_call(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0).value());
}
inline void close(int file) noexcept { system_call(SYS_close, file); }

/// Returns: another descriptor of the file; negative after an error.
inline int duplicate(int file) noexcept {
  return static_cast<int>(system_call(SYS_fcntl, file, F_DUPFD_CLOEXEC, 0).value());
}

/// Returns: the bytes that were read; negative after an error.
inline ssize_t read(int file, void* into, std::size_t room) noexcept {
  return system_call(SYS_read, file, into, room).value();
}

/// Returns: whether there is such a file.
inline bool look_at(int file, struct stat& status) noexcept {
  return system_call(SYS_fstat, file, &status).succeeded();
}
inline bool look_at(const char* path, struct stat& status) noexcept {
  return system_call(SYS_newfstatat, AT_FDCWD, path, &status, 0).succeeded();
}

/// Returns: the bytes of the path; negative after an error.
inline ssize_t read_link(const char* path, char* into, std::size_t room) noexcept {
  return system_call(SYS_readlinkat, AT_FDCWD, path, into, room).value();
}

/// Returns: nullptr after an error.
inline void* map_file(int file, std::size_t begin, std::size_t bytes) noexcept {
  constexpr int access = PROT_READ | PROT_WRITE;
  return system_call(SYS_mmap, nullptr, bytes, access, MAP_SHARED, file, begin).address();
}
inline void* map_page_of_own(std::size_t bytes) noexcept {
  constexpr int access = PROT_READ | PROT_WRITE;
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS;
  return system_call(SYS_mmap, nullptr, bytes, access, kind, -1, 0).address();
}

/// Effects: maps what is mapped at the address, and what follows in its file, a second time.
/// Returns: nullptr after an error.
inline void* map_again(void* mapping, std::size_t bytes) noexcept {
  return system_call(SYS_mremap, mapping, 0, bytes, MREMAP_MAYMOVE, nullptr).address();
}
inline void unmap(void* mapping, std::size_t bytes) noexcept {
  system_call(SYS_munmap, mapping, bytes);
}
inline bool advise(void* mapping, std::size_t bytes, int advice) noexcept {
  return system_call(SYS_madvise, mapping, bytes, advice).succeeded();
}

/// Effects: says of each page whether it has memory. Returns: whether all are mapped.
inline bool look_at_pages(std::uintptr_t first, std::size_t bytes,
                          unsigned char* present) noexcept {
  return system_call(SYS_mincore, first, bytes, present).succeeded();
}

/// Returns: false if it is certain that there is no such process.
inline bool may_live(pid_t process) noexcept {
  return system_call(SYS_kill, process, 0).error() != ESRCH;
}

inline void let_others_run() noexcept { system_call(SYS_sched_yield); }

inline void pause(long nanoseconds) noexcept {
  const timespec time{0, nanoseconds};
  system_call(SYS_nanosleep, &time, nullptr);
}

inline system_answer futex(const volatile void* word, int operation, long value,
                           const timespec* pause) noexcept {
  return system_call(SYS_futex, word, operation, value, pause, nullptr, 0);
}

/// Returns: whether four bytes at the address can be read. Requires: no filter of the program ends
/// a process for that.
inline bool is_readable(std::uintptr_t address) noexcept {
  constexpr long improbable = 0x5EAF'00D5; // else the call takes some microseconds
  constexpr timespec at_once{};
  const auto* const word = reinterpret_cast<const void*>(address & ~std::uintptr_t{3});
  const int error = futex(word, FUTEX_WAIT_PRIVATE, improbable, &at_once).error();
  return error == EAGAIN || error == ETIMEDOUT;
}

} // namespace heapwise::bench::kernel
