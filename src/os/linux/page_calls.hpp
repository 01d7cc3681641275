// The two system calls that the runtime of a sanitizer has to see, if the program has one: it keeps
// what it knows of each address.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>

#include <sys/mman.h>
#include <sys/types.h>

#include "os/expects.hpp"
#include "os/linux/system_call.hpp"

extern "C" {
// Only the runtimes of sanitizers have these; the names are reserved for them.
[[gnu::weak]] void* __interceptor_mmap(void* wish, std::size_t size_bytes, int protection,
                                       int flags, int file, off_t begin);
[[gnu::weak]] int __interceptor_munmap(void* memory, std::size_t size_bytes);
}

namespace heapwise::os {

/// Effects: maps pages of no file, as `mmap` does. Returns: where, or the error.
inline system_answer map_pages(void* wish, std::size_t size_bytes, int protection,
                               int flags) noexcept {
  constexpr int no_file = -1;
  if (__interceptor_mmap == nullptr) [[likely]] {
    return system_call(SYS_mmap, wish, size_bytes, protection, flags | MAP_ANONYMOUS, no_file, 0);
  }
  const int saved = errno;
  void* const memory =
      __interceptor_mmap(wish, size_bytes, protection, flags | MAP_ANONYMOUS, no_file, 0);
  const system_answer answered{memory == MAP_FAILED ? -errno : reinterpret_cast<long>(memory)};
  errno = saved;
  return answered;
}

/// Effects: as `munmap`.
inline system_answer unmap_pages(void* memory, std::size_t size_bytes) noexcept {
  if (__interceptor_munmap == nullptr) [[likely]] {
    return system_call(SYS_munmap, memory, size_bytes);
  }
  const int saved = errno;
  const system_answer answered{__interceptor_munmap(memory, size_bytes) == 0 ? 0 : -errno};
  errno = saved;
  return answered;
}

/// Returns: whether the range is of whole pages, and of one at least.
inline bool are_whole_pages(const void* memory, std::size_t size_bytes) noexcept {
  const std::size_t page = page_bytes();
  return size_bytes > 0 && size_bytes % page == 0 &&
         reinterpret_cast<std::uintptr_t>(memory) % page == 0;
}

/// Effects: ends the process if the range is not of whole pages.
HEAPWISE_ALWAYS_INLINE void expects_whole_pages(const void* memory,
                                                std::size_t size_bytes) noexcept {
  expects([=] { return are_whole_pages(memory, size_bytes); }, "the range is of whole pages");
}

} // namespace heapwise::os
