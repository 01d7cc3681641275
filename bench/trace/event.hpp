// What the recorder writes for each call, and the drain reads: 16 bytes in a ring of its thread.
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
  new_image = 17, ///< the process called exec: all its blocks are gone
  resumed = 18,   ///< only in files, after a pause: which of the blocks before live is not known

  // Only in rings, before the event that they belong to. Values from the end of the range.
  stack = 60, ///< one or two frames of the allocation that follows
  site = 61,  ///< from now on `place` stands for the return address `address`
  wide = 62,  ///< alignment (as `place`) and size of the event that follows
  stamp = 63, ///< the stamp of the event that follows, if it is far from the one before
};

[[nodiscard]] constexpr bool makes_block(event_kind kind) noexcept {
  return (kind >= event_kind::malloc && kind <= event_kind::array_new) ||
         kind == event_kind::resize_to;
}

[[nodiscard]] constexpr bool ends_block(event_kind kind) noexcept {
  return kind == event_kind::resize_from ||
         (kind >= event_kind::free && kind <= event_kind::array_delete);
}

/// One call, in a ring. The events before it say what does not fit: see the last kinds.
struct event {
  static constexpr int kind_bits = 6;
  static constexpr int place_bits = 10;
  static constexpr std::uint64_t largest_size = UINT32_MAX;

  /// kind (6 bits), place of the site (10), address of the block (48).
  std::uint64_t head;
  /// Low half of the stamp (32 bits), size (32). Of a free, the number of pages that were resident,
  /// if they were counted. Of a stack, the second frame. Of the other kinds above, all 64 bits.
  std::uint64_t body;

  [[nodiscard]] static constexpr std::uint64_t pack_head(event_kind kind, std::uint64_t place,
                                                         std::uint64_t address) noexcept {
    return static_cast<std::uint64_t>(kind) | place << kind_bits |
           address << (kind_bits + place_bits);
  }
  [[nodiscard]] static constexpr std::uint64_t pack_body(std::uint64_t stamp,
                                                         std::uint64_t size) noexcept {
    return (stamp & UINT32_MAX) | size << 32;
  }

  [[nodiscard]] event_kind kind() const noexcept {
    return static_cast<event_kind>(head & ((1U << kind_bits) - 1));
  }
  [[nodiscard]] std::uint32_t place() const noexcept {
    return static_cast<std::uint32_t>(head >> kind_bits) & ((1U << place_bits) - 1);
  }
  [[nodiscard]] std::uint64_t address() const noexcept { return head >> (kind_bits + place_bits); }
  [[nodiscard]] std::uint32_t size() const noexcept {
    return static_cast<std::uint32_t>(body >> 32);
  }

  /// Whether a stamp can be told from its low half and from the stamp before.
  [[nodiscard]] static constexpr bool is_near(std::uint64_t stamp, std::uint64_t before) noexcept {
    return (stamp - before + (std::uint64_t{1} << 31)) >> 32 == 0;
  }
  [[nodiscard]] std::uint64_t stamp_near(std::uint64_t before) const noexcept {
    const auto step = static_cast<std::int32_t>(static_cast<std::uint32_t>(body) -
                                                static_cast<std::uint32_t>(before));
    return before + static_cast<std::uint64_t>(static_cast<std::int64_t>(step));
  }
};

static_assert(sizeof(event) == 16);

} // namespace heapwise::bench
