// Many blocks at once, one after the other.
#pragma once

#include <cstddef>

namespace heapwise::detail::inline v0_2 {

/// Returns: how many blocks `from` had, `count` at the most; they are written to `blocks`.
template <class Blocks>
std::size_t pop_each(Blocks& from, void** blocks, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    blocks[i] = from.pop();
    if (blocks[i] == nullptr) return i;
  }
  return count;
}

/// Returns: how many of these blocks `to` took back.
template <class Blocks>
std::size_t push_each(Blocks& to, void* const* blocks, std::size_t count) noexcept {
  std::size_t taken = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (to.push(blocks[i])) ++taken;
  }
  return taken;
}

} // namespace heapwise::detail::inline v0_2
