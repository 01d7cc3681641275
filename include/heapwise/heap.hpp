// The heap, from C++: blocks of any size whose fast paths are inlined, and heaps that are destroyed
// as a whole. Needs libheapwise or libheapwise-malloc; with the latter, malloc is the same heap.
//
// The fast paths check what the profile `default` checks: a block freed twice in a row by the same
// function ends the process with a line on standard error.
//
// Without exceptions (-fno-exceptions) a function that would throw ends the program by std::abort.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>

#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/heap_profile.hpp"
#include "heapwise/detail/size_classes.hpp"
#include "heapwise/malloc.h"

namespace heapwise {

/// Blocks above this many bytes are large: whole pages, aligned to 64 KiB.
inline constexpr std::size_t max_small_bytes = detail::max_small_bytes;

/// Returns: a block of at least `size_bytes`, aligned to 16; nullptr without memory, with errno
/// set. Thread safety: all. Complexity: constant on average; some ten instructions when
/// `size_bytes` is a constant.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE void* try_allocate(std::size_t size_bytes) noexcept {
  if (size_bytes > max_small_bytes) [[unlikely]]
    return heapwise_malloc(size_bytes);
  return detail::take_hot(detail::class_of(size_bytes));
}

/// As `try_allocate`. Throws: std::bad_alloc without memory.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(std::size_t size_bytes) {
  void* const block = try_allocate(size_bytes);
  if (block == nullptr) [[unlikely]]
    HEAPWISE_THROW(std::bad_alloc{});
  return block;
}

/// As `allocate`, with an address that is a multiple of `alignment`.
/// Requires: a power of two.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(std::size_t size_bytes,
                                                    std::align_val_t alignment) {
  const auto boundary = static_cast<std::size_t>(alignment);
  if (boundary <= detail::granule_bytes) return allocate(size_bytes);
  void* block = nullptr;
  if (size_bytes > max_small_bytes || boundary > max_small_bytes) {
    block = heapwise_aligned_alloc(boundary, size_bytes);
  } else {
    block = detail::take_hot(detail::aligned_class_of(size_bytes, boundary));
  }
  if (block == nullptr) [[unlikely]]
    HEAPWISE_THROW(std::bad_alloc{});
  return block;
}

/// Effects: gives back any block of the heap, whichever function made it. nullptr does nothing.
/// Thread safety: all. Keeps errno.
HEAPWISE_ALWAYS_INLINE void deallocate(void* block) noexcept {
  detail::give<detail::default_profile>(block);
}

/// As `deallocate`, without having to find out the size.
/// Requires: a block that `allocate` or `try_allocate` returned for this size, and that
/// heapwise_realloc has not returned since; not nullptr.
HEAPWISE_ALWAYS_INLINE void deallocate(void* block, std::size_t size_bytes) noexcept {
  if (size_bytes > max_small_bytes) [[unlikely]]
    return heapwise_free(block);
  detail::give_hot<detail::default_profile>(block, detail::class_of(size_bytes));
}

/// As `deallocate(block, size_bytes)`, for `allocate(size_bytes, alignment)`.
HEAPWISE_ALWAYS_INLINE void deallocate(void* block, std::size_t size_bytes,
                                       std::align_val_t alignment) noexcept {
  const auto boundary = static_cast<std::size_t>(alignment);
  if (boundary <= detail::granule_bytes) return deallocate(block, size_bytes);
  if (size_bytes > max_small_bytes || boundary > max_small_bytes) return heapwise_free(block);
  detail::give_hot<detail::default_profile>(block, detail::aligned_class_of(size_bytes, boundary));
}

/// Effects: gives all free blocks that the calling thread keeps for itself back, so that other
/// threads can use them. The thread may go on to allocate and free. Its next requests cost more, as
/// those of a new thread do. For a thread that will wait for long, such as one of a pool without
/// work. Thread safety: all. Complexity: linear in the free blocks that it keeps.
inline void thread_idle() noexcept { heapwise_thread_idle(); }

/// Returns: the size to which a request of `size_bytes` is rounded up.
[[nodiscard]] inline std::size_t good_size(std::size_t size_bytes) noexcept {
  return heapwise_good_size(size_bytes);
}

/// Standard containers on the heap. All are equal. Thread safety: all.
template <class Value>
class heap_allocator {
 public:
  using value_type = Value;
  using is_always_equal = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;

  heap_allocator() = default;
  /// An allocator of objects of another type is the same one.
  template <class Other>
  heap_allocator(const heap_allocator<Other>&) noexcept {} // NOLINT(*-explicit-*)

  /// Returns: memory for `count` objects.
  /// Throws: std::bad_array_new_length when the bytes cannot be counted, std::bad_alloc.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE Value* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(Value)) {
      HEAPWISE_THROW(std::bad_array_new_length{});
    }
    return static_cast<Value*>(
        heapwise::allocate(count * sizeof(Value), std::align_val_t{alignof(Value)}));
  }
  /// Effects: gives memory back. Requires: `allocate` returned it for the same `count`.
  void deallocate(Value* first, std::size_t count) noexcept {
    heapwise::deallocate(first, count * sizeof(Value), std::align_val_t{alignof(Value)});
  }

  friend bool operator==(const heap_allocator&, const heap_allocator&) noexcept { return true; }
};

/// A heap of its own: its blocks are freed one by one, or all at once with the heap.
/// Thread safety: `allocate` by one thread at a time; `deallocate` of its blocks by all.
class heap {
 public:
  /// Throws: std::bad_alloc.
  HEAPWISE_ALWAYS_INLINE heap() : made_{heapwise_heap_create()} {
    if (made_ == nullptr) HEAPWISE_THROW(std::bad_alloc{});
  }

  /// Returns: a block that lives as long as it is not given back, and no longer than the heap.
  /// Throws: std::bad_alloc. Requires: `alignment` is a power of two.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(
      std::size_t size_bytes, std::size_t alignment = detail::granule_bytes) {
    void* const block = heapwise_heap_aligned_alloc(made_.get(), alignment, size_bytes);
    if (block == nullptr) HEAPWISE_THROW(std::bad_alloc{});
    return block;
  }

  /// Effects: gives back one block. nullptr does nothing.
  void deallocate(void* block) noexcept { heapwise_free(block); }

  /// Effects: gives back all blocks at once. Complexity: linear in the spans, not in the blocks.
  /// Throws: std::bad_alloc when there is no memory for a new heap; then the old one is as it was.
  void clear() { *this = heap{}; }

 private:
  struct destroy {
    void operator()(heapwise_heap* the_heap) const noexcept { heapwise_heap_destroy(the_heap); }
  };
  std::unique_ptr<heapwise_heap, destroy> made_;
};

} // namespace heapwise
