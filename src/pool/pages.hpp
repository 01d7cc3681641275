// Whole pages of pieces of memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "os/os.hpp"

namespace heapwise::inline v0_2 {

/// Returns: the size rounded up to a multiple of a power of two; 0 if there is no such number.
constexpr std::size_t round_up_to(std::size_t size_bytes, std::size_t multiple) noexcept {
  const std::size_t mask = multiple - 1;
  return size_bytes > SIZE_MAX - mask ? 0 : (size_bytes + mask) & ~mask;
}

/// Effects: gives back the physical memory of the pages that lie within this memory as a whole.
inline void purge_pages(void* memory, std::size_t size_bytes) noexcept {
  const std::size_t mask = os::page_bytes() - 1;
  const auto begin = (reinterpret_cast<std::uintptr_t>(memory) + mask) & ~mask;
  const auto end = (reinterpret_cast<std::uintptr_t>(memory) + size_bytes) & ~mask;
  if (begin < end) os::purge(reinterpret_cast<void*>(begin), end - begin);
}

} // namespace heapwise::inline v0_2
