// The free blocks that a thread keeps for itself, and the paths of malloc and free that need no
// other thread. Everything here is inlined into its callers; what is rare is in src/heap.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_profile.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Where the heap lives: one range of addresses cut into slices, and for every slice the class of
/// the small blocks in it. Set once, before the first block exists.
struct heap_map {
  static constexpr unsigned granule_shift = std::countr_zero(granule_bytes);
  static constexpr unsigned slice_shift = std::countr_zero(slice_bytes);

  /// An empty range: no address lies in it.
  constexpr heap_map() noexcept = default;
  /// Requires: `begin` is a multiple of slice_bytes; a class for each slice at `table`.
  heap_map(std::uintptr_t begin, std::size_t slices, std::atomic<std::uint8_t>* table) noexcept
      : base{begin},
        granules{slices << (slice_shift - granule_shift)},
        classes{reinterpret_cast<std::uintptr_t>(table) - (begin >> slice_shift)} {}

  std::uintptr_t base = 0;
  std::uintptr_t granules = 0; // how many granules there are from the base on
  // Where the table would begin if it had a class for every slice from address 0 on. So the class
  // of a block is one shift and one load away, and the load does not wait for the base.
  std::uintptr_t classes = 0;

  /// Returns: how many granules an address is from the base on; too many (>= granules) for what is
  /// outside of the heap or not aligned: rotating moves the bits below a granule to the top.
  [[nodiscard]] std::uintptr_t granule_of(const void* address) const noexcept {
    return std::rotr(reinterpret_cast<std::uintptr_t>(address) - base, granule_shift);
  }
  /// Returns: the class of the slice that an address is in. Requires: it is in the range.
  [[nodiscard]] std::atomic<std::uint8_t>& class_around(std::uintptr_t address) const noexcept {
    return *reinterpret_cast<std::atomic<std::uint8_t>*>(classes + (address >> slice_shift));
  }
  /// Returns: the same of a block that is in use.
  [[nodiscard]] std::size_t class_of_block(const void* block) const noexcept {
    // Relaxed: the thread that was handed the block learned of it after the class was written.
    return class_around(reinterpret_cast<std::uintptr_t>(block)).load(std::memory_order_relaxed);
  }
  /// Returns: the class of a slice, by its number from the base on. Requires: it is in the range.
  [[nodiscard]] std::atomic<std::uint8_t>& class_of_slice(std::size_t slice) const noexcept {
    return class_around(base + (slice << slice_shift));
  }

  /// Returns: the class of a small block, or no_class for an address that is not the first byte of
  /// a granule of the heap, and for blocks that need the slow path.
  [[nodiscard]] size_class class_at(const void* block) const noexcept {
    return granule_of(block) < granules ? static_cast<size_class>(class_of_block(block)) : no_class;
  }
};

/// A thread's cache. For each class it has a batch, a stack of the addresses of free blocks: the
/// one freed last is taken first. Nothing is written into free blocks: to free one that has left
/// the processor's cache costs no wait, and the thread that writes to it afterwards finds nothing
/// there that the heap believes. A cache that has nothing and has room for nothing stands for "no
/// cache yet": every fast path then ends at the slow one without asking. Thread safety: used by its
/// thread only.
struct alignas(cache_line_bytes) heap_cache {
  heap_map map;                  // a copy: what a path needs lies together
  std::byte** tops[class_slots]; // behind the block freed last; below the lowest lies a nullptr
  std::byte** ends[class_slots]; // no room from here on
  std::byte* hot[class_slots];   // the block freed last by the inlined functions of heap.hpp
};

// The symbols that programs compiled with this header take from the library. The number stands for
// all that such a program knows of it: the members of heap_cache and heap_map, the size classes,
// and the contracts of the two functions. A change of these needs another number. So a program uses
// a library that suits it even if another one was preloaded.
inline namespace layout_3 {

// A pointer is all that is kept in thread-local storage: addressing the bins there directly defeats
// the processor's short cut from a store to the load that follows
// (docs/design/heap.md#caches-of-threads).
#if defined(__GNUC__) || defined(__clang__)
extern __thread heap_cache* current_cache HEAPWISE_OWN_EXPORT
    __attribute__((tls_model("initial-exec")));
#else
extern thread_local heap_cache* current_cache;
#endif

/// The slow paths. Errors: `refill` returns nullptr when there is no memory. Where programs find a
/// cache, its block is of a span of the class: `give_hot` does not look at the address.
[[nodiscard]] HEAPWISE_OWN_EXPORT void* refill(std::size_t class_index) noexcept;
HEAPWISE_OWN_EXPORT void release_slowly(void* block) noexcept;

} // namespace layout_3

/// Returns: a block of the class that the calling thread keeps for itself, or nullptr.
HEAPWISE_ALWAYS_INLINE void* take_kept(std::size_t class_index) noexcept {
  heap_cache& cache = *current_cache;
  std::byte** const top = cache.tops[class_index] - 1;
  std::byte* const block = *top;
  if (block != nullptr) [[likely]]
    cache.tops[class_index] = top;
  return block;
}

/// Returns: the same; if the thread keeps none, what `slowly(class_index)` returns.
template <class Slowly>
HEAPWISE_ALWAYS_INLINE void* take_or(std::size_t class_index, Slowly slowly) noexcept {
  if (void* const block = take_kept(class_index)) [[likely]]
    return block;
  return slowly(class_index);
}

/// Returns: a block of the class, or nullptr.
HEAPWISE_ALWAYS_INLINE void* take(std::size_t class_index) noexcept {
  return take_or(class_index, refill);
}

/// Returns: the value. The compiler does not know that it is the same. So it does not compute an
/// address first that two arrays have in common, and each access does it by itself: one step less
/// for the block whose class was just found.
HEAPWISE_ALWAYS_INLINE std::size_t unrelated(std::size_t value) noexcept {
#if defined(__GNUC__) || defined(__clang__)
  __asm__("" : "+r"(value));
#endif
  return value;
}

/// Effects: the calling thread keeps a small block that lies in `map` for its next requests.
/// Returns: false, without an effect, for any other address, if the thread has no room, and if it
/// keeps the block already.
template <const protection& Profile>
[[nodiscard]] HEAPWISE_ALWAYS_INLINE bool keep(heap_cache& cache, const heap_map& map,
                                               void* block) noexcept {
  if (map.granule_of(block) >= map.granules) [[unlikely]]
    return false;
  const std::size_t class_index = map.class_of_block(block);
  std::byte** const top = cache.tops[class_index];
  if (top == cache.ends[unrelated(class_index)]) [[unlikely]]
    return false; // always, for no_class
  if (Profile.checks_last && top[-1] == block) [[unlikely]]
    return false;
  *top = static_cast<std::byte*>(block);
  cache.tops[class_index] = top + 1;
  return true;
}

/// Effects: gives back any block of the heap. nullptr does nothing.
template <const protection& Profile>
HEAPWISE_ALWAYS_INLINE void give(void* block) noexcept {
  heap_cache& cache = *current_cache;
  if (!keep<Profile>(cache, cache.map, block)) [[unlikely]]
    release_slowly(block);
}

/// The same two for callers that know the class when they are compiled: the block freed last is
/// kept beside the stack, so that for a block which comes and goes in turns no load has to wait for
/// the store of a stack's top. (For callers that mix classes, its branches would cost more than
/// they save: docs/design/heap.md#caches-of-threads.)
HEAPWISE_ALWAYS_INLINE void* take_hot(std::size_t class_index) noexcept {
  std::byte*& hot = current_cache->hot[class_index];
  if (std::byte* const block = hot; block != nullptr) {
    hot = nullptr;
    return block;
  }
  return take(class_index);
}

template <const protection& Profile>
HEAPWISE_ALWAYS_INLINE void give_hot(void* block, std::size_t class_index) noexcept {
  heap_cache& cache = *current_cache;
  std::byte** const top = cache.tops[class_index];
  if (top == cache.ends[class_index]) [[unlikely]]
    return release_slowly(block); // full, or no cache yet
  std::byte* const colder = cache.hot[class_index];
  if (Profile.checks_last && colder == block) [[unlikely]]
    return release_slowly(block);
  cache.hot[class_index] = static_cast<std::byte*>(block);
  if (colder == nullptr) return;
  *top = colder;
  cache.tops[class_index] = top + 1;
}

} // namespace heapwise::detail
