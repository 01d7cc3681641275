// Giving back the pages of a span that hold free blocks only.
#pragma once

#include <cstddef>

#include "heap/space/page_returns.hpp"
#include "heap/space/span.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

/// Effects: gives back pages side by side for which `is_free(number)` is true and that are not
/// among `purged_pages`, and adds them to these. The caller holds a lock for which other threads
/// wait, so these are the first such pages only: to give all of them back takes as many calls as it
/// takes the system. Returns: the bytes given back, 0 if there are no such pages or the system
/// refuses them all. Requires: nobody can be handed a block meanwhile.
template <class IsFree>
std::size_t purge_free_pages(std::uint64_t& purged_pages, std::byte* begin, std::size_t pages,
                             IsFree is_free) noexcept {
  const std::size_t page = os::page_bytes();
  const auto worth = [&](std::size_t number) {
    return (purged_pages >> number & 1) == 0 && is_free(number);
  };
  for (std::size_t first = 0; first < pages; ++first) {
    std::size_t end = first;
    while (end < pages && worth(end)) ++end;
    if (end == first) continue;
    if (the_page_returns.give_back(begin + first * page, (end - first) * page)) {
      purged_pages |= page_bits(first, end - first);
      return (end - first) * page;
    }
    first = end;
  }
  return 0;
}

} // namespace heapwise::detail
