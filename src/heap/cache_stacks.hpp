// The stacks of a cache, one for each class: how one gets blocks when it is empty, and gets rid of
// them when it is full. A class begins with a short stack, and gets a batch when it needs more.
#pragma once

#include <cstddef>

#include "heap/thread_cache.hpp"

namespace heapwise::detail {

inline constexpr std::byte* no_blocks = nullptr; // what all would take is read-only

/// The end of a stack that is empty and full at once: the class has none.
inline constexpr std::byte** no_room = const_cast<std::byte**>(&no_blocks) + 1;

/// Returns: a cache whose classes have no stack.
constexpr heap_cache cache_without_stacks() noexcept {
  heap_cache cache{};
  for (std::byte**& top : cache.tops) top = no_room;
  for (std::byte**& end : cache.ends) end = no_room;
  return cache;
}

[[nodiscard]] inline bool has_stack(const heap_cache& cache, size_class class_index) noexcept {
  return cache.ends[class_index] != no_room;
}

/// Effects: makes a stack that has no block. Returns: whether there was memory.
/// Requires: there is none.
[[nodiscard]] bool make_stack(heap_cache& cache, size_class class_index) noexcept;

/// Effects: sees to it that there is a stack, which may be empty or full. Returns: whether there
/// was memory.
[[nodiscard]] inline bool have_stack(heap_cache& cache, size_class class_index) noexcept {
  return has_stack(cache, class_index) || make_stack(cache, class_index);
}

/// Effects: sees to it that the stack has a block. Requires: it has none.
/// Returns: whether there was memory.
[[nodiscard]] bool fill(heap_cache& cache, size_class class_index) noexcept;

/// Effects: brings the blocks of the stack into a random order, within groups as large as the
/// profile says. Requires: there is a stack.
void shuffle(heap_cache& cache, size_class class_index) noexcept;

/// Effects: the block on top changes its place with one below, at random, so that it is not the
/// next one to be handed out. Requires: the stack has a block.
void bury_top(heap_cache& cache, size_class class_index) noexcept;

/// Effects: makes room in the stack. Requires: it is full.
void make_room(heap_cache& cache, size_class class_index) noexcept;

/// Effects: gives blocks of one class back to their spans.
void put_back(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept;

/// Effects: gives whole batches to the bins, which pass them on to other threads.
void pass_on_whole(heap_cache& cache) noexcept;

/// Effects: gives all blocks back to their spans, and all batches to other threads.
void empty(heap_cache& cache) noexcept;

/// Returns: the bytes of the free blocks.
[[nodiscard]] std::size_t cached_bytes(heap_cache& cache) noexcept;

} // namespace heapwise::detail
