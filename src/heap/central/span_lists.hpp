// The spans of a bin that have free blocks, by how full they are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "heap/base/linked.hpp"
#include "heap/space/span.hpp"
#include "os/expects.hpp"

namespace heapwise::detail {

/// Spans by how full they are, so that the fullest serves first and the others may run empty.
class span_lists {
 public:
  static constexpr std::uint8_t count = 8;
  static constexpr std::uint8_t unlisted = count; // full spans have nothing to give

  /// Returns: the fullest span that has a free block, or nullptr.
  [[nodiscard]] span* fullest() const noexcept {
    if (occupied_ == 0) return nullptr;
    return lists_[static_cast<unsigned>(std::bit_width(occupied_)) - 1].first();
  }
  [[nodiscard]] span* emptiest() const noexcept {
    if (occupied_ == 0) return nullptr;
    return lists_[static_cast<unsigned>(std::countr_zero(occupied_))].first();
  }
  /// Returns: the list where the span belongs.
  [[nodiscard]] static std::uint8_t list_of(const span& some, std::uint32_t blocks) noexcept {
    expects(some.small.free_blocks() <= blocks, "a span has no more free blocks than blocks");
    const std::uint32_t used = blocks - some.small.free_blocks();
    return some.small.free_blocks() == 0 ? unlisted
                                         : static_cast<std::uint8_t>(used * count / blocks);
  }
  /// Returns: whether the span has more free blocks than belong into its list, or is empty.
  [[nodiscard]] static bool is_too_empty(const span& listed) noexcept {
    return listed.small.below < 0;
  }
  /// Returns: the most free blocks of a span in the list. (A span of the emptiest list may have one
  /// more. Then it is empty, and need not stay.)
  [[nodiscard]] static std::uint16_t most_free(std::uint8_t list, std::uint32_t blocks) noexcept {
    if (list == 0) return static_cast<std::uint16_t>(blocks - 1);
    return static_cast<std::uint16_t>(blocks - (list * blocks + count - 1) / count);
  }
  /// Effects: puts the span where its free blocks say.
  void place(span& member, std::uint32_t blocks) noexcept;
  void remove(span& member) noexcept;

  /// Returns: whether `holds(span, list)` is true of each span, and each is linked with its
  /// neighbours. Complexity: all spans.
  template <class Holds>
  [[nodiscard]] bool all_of(Holds holds) const noexcept {
    for (std::uint8_t list = 0; list < count; ++list) {
      const span* previous = nullptr;
      if ((occupied_ >> list & 1) != (lists_[list].first() != nullptr)) return false;
      for (const span* each = lists_[list].first(); each != nullptr; each = each->next) {
        if (each->previous != previous || !holds(*each, list)) return false;
        previous = each;
      }
    }
    return true;
  }

 private:
  std::array<linked_list<span>, count> lists_;
  unsigned occupied_ = 0; // a bit for each list
};

} // namespace heapwise::detail
