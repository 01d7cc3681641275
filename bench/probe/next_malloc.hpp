// malloc and its family in the allocator behind a preloaded library that forwards to it.
#pragma once

#include <dlfcn.h>

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
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

/// malloc_usable_size for what the probe itself wants to know.
///
/// An allocator need not have one. Then the next one is that of the C library, which takes whatever
/// stands before a block for its own, and may follow it: only the program may ask that one.
class own_usable_size {
 public:
  /// Null if malloc and malloc_usable_size are of different objects, and as next_function::get().
  [[gnu::always_inline]] std::size_t (*get() noexcept)(void*) {
    const owner known = owner_.load(std::memory_order_relaxed);
    if (known == owner::same) [[likely]]
      return next_usable_size.known();
    return known == owner::other ? nullptr : look_up();
  }

 private:
  enum class owner : std::uint8_t { unknown, same, other };

  [[gnu::noinline, gnu::cold]] std::size_t (*look_up() noexcept)(void*) {
    auto* const allocate = next_malloc.get();
    auto* const usable = next_usable_size.get();
    Dl_info one{};
    Dl_info other{};
    if (allocate == nullptr || usable == nullptr) return nullptr;
    const bool same = dladdr(std::bit_cast<void*>(allocate), &one) != 0 &&
                      dladdr(std::bit_cast<void*>(usable), &other) != 0 &&
                      one.dli_fbase == other.dli_fbase;
    // Relaxed: every thread finds the same.
    owner_.store(same ? owner::same : owner::other, std::memory_order_relaxed);
    return same ? usable : nullptr;
  }

  std::atomic<owner> owner_{owner::unknown};
};
inline constinit own_usable_size known_usable_size;

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
  static_cast<void>(known_usable_size.get());
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
