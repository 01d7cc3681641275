// malloc and its family in the allocator behind a preloaded library that forwards to it.
#pragma once

#include <cstddef>
#include <cstring>

#include "probe/next.hpp"

namespace heapwise::bench {

inline constexpr std::size_t default_alignment = 16;

inline constinit next_function<void*(std::size_t)> next_malloc{"malloc"};
inline constinit next_function<void*(std::size_t, std::size_t)> next_calloc{"calloc"};
inline constinit next_function<void*(void*, std::size_t)> next_realloc{"realloc"};
inline constinit next_function<void(void*)> next_free{"free"};
inline constinit next_function<void*(std::size_t, std::size_t)> next_aligned_alloc{"aligned_alloc"};
inline constinit next_function<void*(std::size_t, std::size_t)> next_memalign{"memalign"};
inline constinit next_function<int(void**, std::size_t, std::size_t)> next_posix_memalign{
    "posix_memalign"};
inline constinit next_function<void*(std::size_t)> next_valloc{"valloc"};
inline constinit next_function<void*(std::size_t)> next_pvalloc{"pvalloc"};
inline constinit next_function<std::size_t(void*)> next_usable_size{"malloc_usable_size"};

/// Finds them all. Later, a look-up might be part of a call of dlsym() that allocates, and the two
/// would free one error twice.
inline void find_next_malloc() noexcept {
  static_cast<void>(next_malloc.get());
  static_cast<void>(next_calloc.get());
  static_cast<void>(next_realloc.get());
  static_cast<void>(next_free.get());
  static_cast<void>(next_aligned_alloc.get());
  static_cast<void>(next_memalign.get());
  static_cast<void>(next_posix_memalign.get());
  static_cast<void>(next_valloc.get());
  static_cast<void>(next_pvalloc.get());
  static_cast<void>(next_usable_size.get());
}

/// A block of the time before the allocator was known, as a block of the allocator.
inline void* move_out_of_early(void* block, std::size_t size) noexcept {
  auto* next = next_malloc.get();
  void* new_block = next != nullptr ? next(size) : early.allocate(size, default_alignment);
  const std::size_t readable = early.readable(block);
  if (new_block != nullptr) std::memcpy(new_block, block, size < readable ? size : readable);
  return new_block;
}

} // namespace heapwise::bench
