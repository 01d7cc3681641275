// Huge pages for the heap's memory, if its user asks for them (docs/decisions/0140).
#pragma once

#include <cstddef>

#include "heap/options.hpp"
#include "os/placement.hpp"

namespace heapwise::detail {

/// Effects: with the option HUGE_PAGES, asks the system for huge pages in memory that was mapped
/// just now. Without it does nothing. Memory with the request and memory without it are two
/// mappings to the system, so all of the heap's slices have it, or none has. The system may refuse:
/// nothing depends on it.
inline void want_huge_pages(std::byte* begin, std::size_t bytes) noexcept {
  if (the_options.huge_pages) os::prefer_huge_pages(begin, bytes);
}

} // namespace heapwise::detail
