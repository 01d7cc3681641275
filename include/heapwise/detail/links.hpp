// How one free block leads to another.
#pragma once

namespace heapwise::detail::inline v0_2 {

/// How a free block's words are written: plainly, and each block may list many others.
struct plain_links {
  static constexpr bool unrolled = true;
  static void store(void* block, void* next) noexcept { *static_cast<void**>(block) = next; }
  static void* load(const void* block) noexcept { return *static_cast<void* const*>(block); }
};

} // namespace heapwise::detail::inline v0_2
