// The calls that few programs make, of malloc's family: the recorder and the profiler write them
// down alike. The file that defines malloc, realloc and what is named here includes this one, once:
//
// observed_call(kind, size, site, alignment_log, allocate) and observed_realloc(block, size, site)
// make a call and write it down; allocate_early(size, alignment) serves one before the allocator is
// known.
#pragma once

#include <unistd.h>

#include <cerrno>
#include <cstddef>

#include "probe/next_malloc.hpp"

namespace heapwise::bench {

inline unsigned log_of(std::size_t alignment) noexcept {
  return alignment > 1 ? 63 - static_cast<unsigned>(__builtin_clzll(alignment)) : 0;
}

} // namespace heapwise::bench

// All else is hidden: a call or a variable of this library is reached without a table.
#pragma GCC visibility push(default)
extern "C" {

[[gnu::visibility("hidden"), gnu::alias("realloc"), gnu::copy(realloc)]] void* own_realloc(
    void* block, std::size_t size);

void* reallocarray(void* block, std::size_t count, std::size_t size) {
  std::size_t bytes = 0;
  if (!__builtin_mul_overflow(count, size, &bytes)) {
    // The program, or a library in front of this one, may have a realloc and no reallocarray.
    void* (*volatile const first)(void*, std::size_t) = realloc;
    if (first != own_realloc) return first(block, bytes);
    return observed_realloc(block, bytes, __builtin_return_address(0));
  }
  errno = ENOMEM;
  return nullptr;
}

void* aligned_alloc(std::size_t alignment, std::size_t size) {
  auto* next = next_aligned_alloc.get();
  if (next == nullptr) return allocate_early(size, alignment);
  return observed_call(event_kind::aligned, size, __builtin_return_address(0), log_of(alignment),
                       [=] { return next(alignment, size); });
}

void* memalign(std::size_t alignment, std::size_t size) {
  auto* next = next_memalign.get();
  if (next == nullptr) return allocate_early(size, alignment);
  return observed_call(event_kind::aligned, size, __builtin_return_address(0), log_of(alignment),
                       [=] { return next(alignment, size); });
}

int posix_memalign(void** block, std::size_t alignment, std::size_t size) {
  auto* next = next_posix_memalign.get();
  if (next == nullptr) {
    *block = allocate_early(size, alignment);
    return *block != nullptr ? 0 : ENOMEM;
  }
  int status = 0;
  observed_call(event_kind::aligned, size, __builtin_return_address(0), log_of(alignment), [&] {
    status = next(block, alignment, size);
    return status == 0 ? *block : nullptr;
  });
  return status;
}

void* valloc(std::size_t size) {
  auto* next = next_valloc.get();
  if (next == nullptr) return nullptr;
  return observed_call(event_kind::aligned, size, __builtin_return_address(0),
                       log_of(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
                       [=] { return next(size); });
}

void* pvalloc(std::size_t size) {
  auto* next = next_pvalloc.get();
  if (next == nullptr) return nullptr;
  return observed_call(event_kind::aligned, size, __builtin_return_address(0),
                       log_of(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))),
                       [=] { return next(size); });
}
}
#pragma GCC visibility pop
