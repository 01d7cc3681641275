// Marks that a block must still bear when it is freed: the proof that no two live blocks overlap.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/escape.hpp"

namespace heaps {

[[nodiscard]] inline unsigned char mark_of(std::size_t slot) noexcept {
  return static_cast<unsigned char>(1 + slot % 251);
}

/// Writes the mark into the first byte and the last: both pages of a block that lies on two.
[[gnu::always_inline]] inline void mark(void* block, std::size_t bytes,
                                        unsigned char with) noexcept {
  auto* const first = static_cast<unsigned char*>(block);
  first[0] = with;
  first[bytes - 1] = with;
  heapwise::bench::escape(first);
}

[[nodiscard]] inline bool is_marked(const void* block, std::size_t bytes,
                                    unsigned char with) noexcept {
  const auto* const first = static_cast<const unsigned char*>(block);
  return first[0] == with && first[bytes - 1] == with;
}

[[nodiscard]] inline bool is_aligned(const void* block, std::size_t alignment) noexcept {
  return reinterpret_cast<std::uintptr_t>(block) % alignment == 0;
}

/// One byte in each page: what makes a large block resident.
inline void touch_pages(void* block, std::size_t bytes) noexcept {
  constexpr std::size_t page_bytes = 4096;
  auto* const first = static_cast<volatile unsigned char*>(block);
  for (std::size_t at = 0; at < bytes; at += page_bytes) first[at] = 1;
}

} // namespace heaps
