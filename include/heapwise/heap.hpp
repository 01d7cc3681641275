// The heap, from C++: blocks of any size whose fast paths are inlined, and heaps that are destroyed
// as a whole. Needs libheapwise or libheapwise-malloc; with the latter, malloc is the same heap.
//
// The fast paths check what the profile `default` checks: if the same function frees a block twice
// in a row, the process ends with a line on standard error.
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

/// Blocks of more bytes than this are large: they are whole pages, aligned to 64 KiB.
inline constexpr std::size_t max_small_bytes = detail::max_small_bytes;

/// Returns: a block of at least `size_bytes`, aligned to 16; nullptr with errno set if there is no
/// memory. Thread safety: all threads at once. Complexity: constant on average; some ten
/// instructions if `size_bytes` is a constant.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE void* try_allocate(std::size_t size_bytes) noexcept {
  if (size_bytes > max_small_bytes) [[unlikely]]
    return heapwise_malloc(size_bytes);
  return detail::take_hot(detail::class_of(size_bytes));
}

/// A block, and how many of its bytes may be used.
struct sized_block {
  void* block;
  std::size_t size_bytes;
};

/// As `try_allocate`. Throws: std::bad_alloc if there is no memory.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(std::size_t size_bytes) {
  void* const block = try_allocate(size_bytes);
  if (block == nullptr) [[unlikely]]
    HEAPWISE_THROW(std::bad_alloc{});
  return block;
}

/// As `allocate`, with an address that is a multiple of `alignment`.
/// Requires: `alignment` is a power of two.
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

/// As `allocate`, for callers that can use more than they asked for, such as containers that grow.
/// Returns: the block and the bytes that may be used, at least `size_bytes`. Each size from the one
/// asked for to the one returned may be passed to `deallocate`.
[[nodiscard]] HEAPWISE_ALWAYS_INLINE sized_block allocate_at_least(std::size_t size_bytes) {
  void* const block = allocate(size_bytes);
  if (size_bytes > max_small_bytes) return {block, heapwise_malloc_usable_size(block)};
  return {block, detail::class_table[detail::class_of(size_bytes)].bytes};
}

/// Effects: gives back any block of the heap, whichever function returned it. Does nothing for
/// nullptr. Leaves errno as it was. Thread safety: all threads at once.
HEAPWISE_ALWAYS_INLINE void deallocate(void* block) noexcept {
  detail::give<detail::default_profile>(block);
}

/// As `deallocate`, but does not have to find out the size.
/// Requires: `allocate` or `try_allocate` returned the block for this size, and heapwise_realloc
/// has not returned it since. The block is not nullptr.
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

/// Effects: gives back all free blocks that the calling thread keeps for itself. Then other threads
/// can use them. The thread may allocate and free afterwards. Its next requests then cost more, as
/// the first requests of a new thread do. Meant for a thread that will wait for a long time, such
/// as a thread of a thread pool without work. Thread safety: all threads at once. Complexity:
/// linear in the free blocks that the thread keeps.
inline void thread_idle() noexcept { heapwise_thread_idle(); }

/// Effects: from its first call in a thread on, what that thread allocates and frees is counted.
/// Returns: the counters of the calling thread, which go on counting until it ends; nullptr without
/// memory. Thread safety: only the thread itself may read its counters.
[[nodiscard]] inline const heapwise_thread_counters* thread_counters() noexcept {
  return heapwise_thread_counters_get();
}

/// Returns: the size to which a request of `size_bytes` is rounded up.
[[nodiscard]] inline std::size_t good_size(std::size_t size_bytes) noexcept {
  return heapwise_good_size(size_bytes);
}

/// An allocator for standard containers. It takes memory from the heap. All are equal. Thread
/// safety: all threads at once.
template <class Value>
class heap_allocator {
 public:
  using value_type = Value;
  using is_always_equal = std::true_type;
  using propagate_on_container_move_assignment = std::true_type;

  heap_allocator() = default;
  /// Makes an allocator for another type. Both allocators are equal.
  template <class Other>
  heap_allocator(const heap_allocator<Other>&) noexcept {} // NOLINT(*-explicit-*)

  /// Returns: memory for `count` objects.
  /// Throws: std::bad_array_new_length if the number of bytes is too large for a std::size_t,
  /// std::bad_alloc.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE Value* allocate(std::size_t count) {
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(Value)) {
      HEAPWISE_THROW(std::bad_array_new_length{});
    }
    return static_cast<Value*>(
        heapwise::allocate(count * sizeof(Value), std::align_val_t{alignof(Value)}));
  }
#if defined(__cpp_lib_allocate_at_least)
  /// Memory, and for how many objects it is.
  using allocation_result = std::allocation_result<Value*, std::size_t>;
#else
  /// Memory, and for how many objects it is.
  struct allocation_result {
    Value* ptr;
    std::size_t count;
  };
#endif

  /// As `allocate`. Returns: memory for `count` objects or more, and for how many. Containers of
  /// C++23 use the rest, so they grow less often.
  [[nodiscard]] allocation_result allocate_at_least(std::size_t count) {
    Value* const first = allocate(count);
    const std::size_t bytes = count * sizeof(Value);
    if constexpr (alignof(Value) <= detail::granule_bytes) {
      if (bytes <= max_small_bytes) {
        const std::size_t usable = detail::class_table[detail::class_of(bytes)].bytes;
        return {first, usable / sizeof(Value)};
      }
    }
    return {first,
            bytes <= max_small_bytes ? count : heapwise_malloc_usable_size(first) / sizeof(Value)};
  }
  /// Effects: gives memory back. Requires: `allocate` returned `first` for the same `count`, or
  /// `allocate_at_least` did for this number or a smaller one, and returned this one or a larger
  /// one.
  void deallocate(Value* first, std::size_t count) noexcept {
    heapwise::deallocate(first, count * sizeof(Value), std::align_val_t{alignof(Value)});
  }

  friend bool operator==(const heap_allocator&, const heap_allocator&) noexcept { return true; }
};

/// A separate heap. Its blocks are freed one by one, or all at once with the heap.
/// Thread safety: one thread at a time may call `allocate`. All threads may call `deallocate` for
/// its blocks.
class heap {
 public:
  /// Throws: std::bad_alloc.
  HEAPWISE_ALWAYS_INLINE heap() : made_{heapwise_heap_create()} {
    if (made_ == nullptr) HEAPWISE_THROW(std::bad_alloc{});
  }

  /// Requires: `alignment` is a power of two.
  /// Returns: a block. It lives until it is given back, and no longer than the heap. Throws:
  /// std::bad_alloc.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE void* allocate(
      std::size_t size_bytes, std::size_t alignment = detail::granule_bytes) {
    void* const block = heapwise_heap_aligned_alloc(made_.get(), alignment, size_bytes);
    if (block == nullptr) HEAPWISE_THROW(std::bad_alloc{});
    return block;
  }

  /// Effects: gives back one block. Does nothing for nullptr.
  void deallocate(void* block) noexcept { heapwise_free(block); }

  /// Effects: gives back all blocks at once. Throws: std::bad_alloc if there is no memory for a new
  /// heap; then the old heap is as it was. Complexity: linear in the spans, not in the blocks.
  void clear() { *this = heap{}; }

 private:
  struct destroy {
    void operator()(heapwise_heap* the_heap) const noexcept { heapwise_heap_destroy(the_heap); }
  };
  std::unique_ptr<heapwise_heap, destroy> made_;
};

} // namespace heapwise
