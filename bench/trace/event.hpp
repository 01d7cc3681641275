// What the recorder writes for each call, and the drain reads: 32 bytes in a ring of its thread.
#pragma once

#include <cstdint>

namespace heapwise::bench {

/// The calls that are told apart, since a replay must make the same ones. Values are stored in
/// traces: they never change, new ones are added at the end.
enum class event_kind : std::uint8_t {
  none = 0,
  malloc = 1,
  calloc = 2,
  aligned = 3, ///< aligned_alloc, memalign, posix_memalign, valloc, pvalloc
  scalar_new = 4,
  array_new = 5,
  resize_from = 6, ///< realloc of a block: what it was; resize_to of the same thread follows
  resize_to = 7,
  free = 8,
  scalar_delete = 9,
  array_delete = 10,
  usable_size = 11, ///< the program reacted to the allocator
  failed = 12,      ///< a call that returned no block; size is what was asked for
  thread_begin = 13,
  thread_end = 14,
  pause = 15,     ///< only in files: time that does not fit between two events
  stack = 16,     ///< only in rings: frames of the allocation that follows, two an event
  new_image = 17, ///< the process called exec: all its blocks are gone
};

[[nodiscard]] constexpr bool makes_block(event_kind kind) noexcept {
  return (kind >= event_kind::malloc && kind <= event_kind::array_new) ||
         kind == event_kind::resize_to;
}

[[nodiscard]] constexpr bool ends_block(event_kind kind) noexcept {
  return kind == event_kind::resize_from ||
         (kind >= event_kind::free && kind <= event_kind::array_delete);
}

/// One call. Of a free, `size` is the number of pages that were resident, if they were counted. Of
/// a stack, `address` and `site` are frames, `size` says how many, and an alignment marks the last.
struct event {
  static constexpr int size_bits = 50;
  static constexpr std::uint64_t largest_size = (std::uint64_t{1} << size_bits) - 1;

  std::uint64_t stamp;   ///< in ticks: before the call that ends a block, after one that makes one
  std::uint64_t address; ///< of the block
  std::uint64_t words;   ///< kind (8 bits), binary logarithm of the alignment (6), size (50)
  std::uint64_t site;    ///< the return address in the caller

  [[nodiscard]] event_kind kind() const noexcept { return static_cast<event_kind>(words & 255); }
  [[nodiscard]] unsigned alignment_log() const noexcept { return (words >> 8) & 63; }
  [[nodiscard]] std::uint64_t size() const noexcept { return words >> 14; }

  [[nodiscard]] static constexpr std::uint64_t pack(event_kind kind, std::uint64_t size,
                                                    unsigned alignment_log = 0) noexcept {
    return static_cast<std::uint64_t>(kind) | std::uint64_t{alignment_log} << 8 |
           (size < largest_size ? size : largest_size) << 14;
  }
};

static_assert(sizeof(event) == 32);

} // namespace heapwise::bench
