// Blocks that a thread has freed, and that nobody is given yet. A pointer to such a block that is
// freed again is found out, since the block has no new owner; so is a write to it, which a later
// request finds.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "heapwise/detail/config.hpp"
#include "heapwise/detail/heap_cache.hpp"
#include "heapwise/detail/size_classes.hpp"

#include "os/expects.hpp"

namespace heapwise::detail {

namespace quarantine_halves {

inline constexpr std::size_t most_bytes = std::size_t{16} << 10;
inline constexpr std::size_t least_blocks = 2;
inline constexpr std::size_t most_blocks = 128;

/// Returns: the blocks of a class in each of its two halves.
constexpr std::size_t blocks(size_class class_index) noexcept {
  return std::clamp(most_bytes / class_table[class_index].bytes, least_blocks, most_blocks);
}

/// Where the first half of each class begins; behind the last class, how many places there are.
inline constexpr std::array<std::uint16_t, class_count + 2> begins = [] {
  std::array<std::uint16_t, class_count + 2> table{};
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    table[class_index + 1U] =
        static_cast<std::uint16_t>(table[class_index] + 2 * blocks(class_index));
  }
  return table;
}();

/// What a thread holds back at most, if it uses all classes.
inline constexpr std::size_t bytes_of_all = [] {
  std::size_t sum = 0;
  for (size_class class_index = 1; class_index <= class_count; ++class_index)
    sum += 2 * blocks(class_index) * class_table[class_index].bytes;
  return sum;
}();
static_assert(bytes_of_all <= std::size_t{2} << 20);

} // namespace quarantine_halves

/// Two halves for each class. A block that is freed takes a random place in the first half. The one
/// that was there goes to the end of the second, a queue, and the first of that queue leaves. So
/// nobody can say when a block leaves, and none does before `places` others of its class. Blocks
/// leave only if others are freed, never to serve a request. All zero: it holds nothing.
/// Thread safety: none.
class quarantine {
 public:
  /// Returns: the blocks of the class in each half.
  static constexpr std::size_t places(size_class class_index) noexcept {
    using quarantine_halves::begins; // a division takes longer
    return (begins[class_index + 1U] - begins[class_index]) / 2U;
  }

  /// Effects: holds a block, in this place of the first half. Returns: the block that leaves, or
  /// nullptr. Requires: a class of blocks; at < places(class_index).
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE std::byte* exchange(std::byte* block, size_class class_index,
                                                           std::size_t at) noexcept {
    expects(class_index != no_class && at < places(class_index), "the place is one of the class");
    std::byte** const first_half = blocks_ + quarantine_halves::begins[class_index];
    std::byte* const older = std::exchange(first_half[at], block);
    std::byte* oldest = nullptr;
    if (older != nullptr) {
      std::byte** const queue = first_half + places(class_index);
      oldest = std::exchange(queue[next_[class_index]], older);
      const std::size_t next = next_[class_index] + std::size_t{1};
      next_[class_index] = static_cast<std::uint8_t>(next == places(class_index) ? 0 : next);
    }
    if (oldest == nullptr) ++held_[class_index];
    return oldest;
  }

  /// Effects: holds no block of the class any more. Calls `take(blocks, count)` for those that it
  /// held.
  template <class Take>
  void drain(size_class class_index, Take take) noexcept {
    if (held_[class_index] == 0) return;
    std::byte** const begin = blocks_ + quarantine_halves::begins[class_index];
    std::byte** const end = begin + 2 * places(class_index);
    std::byte** const end_of_held = std::remove(begin, end, nullptr);
    take(begin, static_cast<std::size_t>(end_of_held - begin));
    std::fill(begin, end, nullptr);
    next_[class_index] = 0;
    held_[class_index] = 0;
  }

  /// Returns: how many blocks of the class it holds.
  [[nodiscard]] std::size_t held(size_class class_index) const noexcept {
    return held_[class_index];
  }

 private:
  // No initializers: fresh pages of the system are one that holds nothing.
  std::array<std::uint8_t, class_slots> next_;  // in the queue of each class: the first to leave
  std::array<std::uint16_t, class_slots> held_; // of each class
  std::byte* blocks_[quarantine_halves::begins.back()];
};

/// Effects: as quarantine::exchange, in a random place of a quarantine that is made when the first
/// block is held back; nullptr: there is none yet. Returns: the block that may be used again
/// instead of this one, or nullptr. Without memory for a quarantine that is the block itself.
[[nodiscard]] std::byte* hold_in(quarantine*& held, std::byte* block,
                                 size_class class_index) noexcept;

/// Effects: there is no quarantine any more; the blocks that it held are forgotten.
void drop(quarantine*& held) noexcept;

/// What is in the way of a thread that frees, in a profile with a quarantine.
/// Returns: the block that may be used again instead of this one, or nullptr. Without memory for a
/// quarantine that is the block itself. Requires: the block is free, and of the class.
[[nodiscard]] std::byte* hold_back(heap_cache& cache, std::byte* block,
                                   size_class class_index) noexcept;

/// Effects: gives the blocks of the class that the cache holds back to their spans.
void release_held(heap_cache& cache, size_class class_index) noexcept;

/// Returns: how many blocks of the class the cache holds back.
[[nodiscard]] std::size_t count_held(heap_cache& cache, size_class class_index) noexcept;

/// Effects: the cache has no quarantine any more. Requires: it holds no block back.
void drop_quarantine(heap_cache& cache) noexcept;

} // namespace heapwise::detail
