// The stacks of a cache, one for each class: how one gets blocks when it is empty, and gets rid of
// them when it is full. A class begins with a short stack, and gets a batch when it needs more.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/base/profile.hpp"
#include "heap/base/random_numbers.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heapwise/detail/config.hpp"
#include "os/expects.hpp"

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

/// Returns: whether the stack of the class is a whole batch; else it is a short one or a part of a
/// batch.
[[nodiscard]] inline bool has_whole_batch(heap_cache& cache, size_class class_index) noexcept {
  return static_cast<thread_cache&>(cache).bin_calls[class_index] >= thread_cache::just_grown;
}

/// Returns: whether the stack of the class is a batch, or a part of one.
[[nodiscard]] inline bool has_batch(heap_cache& cache, size_class class_index) noexcept {
  return static_cast<thread_cache&>(cache).bin_calls[class_index] >
         short_stacks::most_bin_calls(class_index);
}

/// Returns: where the lowest block of the stack is, or comes to be. Requires: there is a stack.
[[nodiscard]] inline std::byte** begin_of_stack(heap_cache& cache,
                                                size_class class_index) noexcept {
  expects([&] { return has_stack(cache, class_index); }, "there is a stack");
  std::byte** const end = cache.ends[class_index];
  if (has_whole_batch(cache, class_index)) return end - class_table[class_index].batch;
  return has_batch(cache, class_index) ? end - first_batches::places(class_index)
                                       : static_cast<thread_cache&>(cache).short_stack(class_index);
}

/// Effects: a block goes into the stack, at a place below the top that `random` chooses, so that it
/// is not the next one to be handed out. The block on top stays there, since what it needs may be
/// on its way into the processor's cache; the one that gives way takes the place below it.
/// Requires: there is room.
HEAPWISE_ALWAYS_INLINE void push_below(heap_cache& cache, std::byte* block, size_class class_index,
                                       std::uint64_t random) noexcept {
  expects([&] { return cache.tops[class_index] != cache.ends[class_index]; },
          "there is room for the block");
  std::byte** const end = cache.tops[class_index]++;
  std::byte** const begin = begin_of_stack(cache, class_index);
  if (end == begin) [[unlikely]] {
    *end = block;
    return;
  }
  std::byte** const place = begin + by_lower_half(random, static_cast<std::size_t>(end - begin));
  std::byte* const top = end[-1];
  end[-1] = *place; // itself, if that place is chosen
  *place = block;
  *end = top;
}

/// Effects: a free block goes into the stack: where free blocks are cleared, below the top as
/// `random` says. Requires: there is room.
HEAPWISE_ALWAYS_INLINE void push(heap_cache& cache, std::byte* block, size_class class_index,
                                 std::uint64_t random) noexcept {
  if constexpr (chosen_profile.clears) {
    push_below(cache, block, class_index, random);
  } else {
    expects(cache.tops[class_index] != cache.ends[class_index], "there is room for the block");
    *cache.tops[class_index]++ = block;
  }
}

/// Effects: makes room in the stack. Requires: it is full.
void make_room(heap_cache& cache, size_class class_index) noexcept;

/// Effects: gives blocks of one class back to their spans.
void put_back(std::byte* const* blocks, std::size_t count, size_class class_index) noexcept;

/// Effects: a spare batch that has left a cache is gone, and its blocks are back in their spans.
/// Does nothing if there is none.
void release_spare(spare_batch::content spare, size_class class_index) noexcept;

/// Returns: the bytes of the blocks for which the spare batches of all caches have room. At most as
/// many are free in them.
[[nodiscard]] std::size_t spare_bytes() noexcept;

/// Returns: the bytes of the blocks for which the batches in use of all caches have room.
[[nodiscard]] std::size_t room_in_caches() noexcept;

/// Effects: no cache is counted in `room_in_caches` any more: for a forked child, which has one
/// thread.
void forget_room_in_caches() noexcept;

/// Effects: a cache that was forgotten is counted again.
void count_room_again(heap_cache& cache) noexcept;

/// Effects: gives whole batches to the bins, which pass them on to other threads.
void pass_on_whole(heap_cache& cache) noexcept;

/// Effects: gives all blocks back to their spans, and all batches to other threads.
void empty(heap_cache& cache) noexcept;

/// Returns: the bytes of the free blocks.
[[nodiscard]] std::size_t cached_bytes(heap_cache& cache) noexcept;

} // namespace heapwise::detail
