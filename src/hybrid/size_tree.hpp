// The free pieces of the best fit, in order of size.
#pragma once

#include <cstddef>
#include <cstdint>

#include <heapwise/hybrid/detail/best_fit.hpp>

namespace heapwise::detail::hybrids {

/// What stands in front of each piece, and, of a free one, behind the tag.
struct best_fit::piece {
  std::size_t before_bytes; ///< size of the piece before it; 0: it is a region's first
  std::size_t size_bytes;   ///< from this tag to the next; a multiple of the granule
  piece* smaller;           ///< of a free piece; else the block's first bytes
  piece* larger;

  static constexpr std::size_t tag_bytes = 2 * sizeof(std::size_t);

  [[nodiscard]] std::byte* block() noexcept {
    return reinterpret_cast<std::byte*>(this) + tag_bytes;
  }
  [[nodiscard]] piece* at(std::size_t offset_bytes) noexcept {
    return reinterpret_cast<piece*>(reinterpret_cast<std::byte*>(this) + offset_bytes);
  }
  [[nodiscard]] piece* after() noexcept { return at(size_bytes); }
  [[nodiscard]] piece* before() noexcept {
    return reinterpret_cast<piece*>(reinterpret_cast<std::byte*>(this) - before_bytes);
  }
};

/// Requires: `added` is in no tree. Effects: adds it. Complexity: O(log n) on average, all.
void insert(best_fit::piece*& root, best_fit::piece* added) noexcept;
/// Requires: `node` is in the tree. Effects: takes it out.
void remove(best_fit::piece*& root, best_fit::piece* node) noexcept;
/// Returns: the smallest piece of at least that size, of those the first in memory; or nullptr.
[[nodiscard]] best_fit::piece* best_of(best_fit::piece* root, std::size_t size_bytes) noexcept;

} // namespace heapwise::detail::hybrids
