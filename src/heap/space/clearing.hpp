// How memory that was used before becomes zero: by writing, or by giving its pages back.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Effects: all bytes are 0. What seems to have been used is overwritten, since pages that come
/// back one by one cost more; the rest goes back to the system, since to write there would make it
/// resident. Requires: whole slices that nobody uses. The lock of the space must not be held.
void clear_pages(std::byte* begin, std::size_t bytes) noexcept;

} // namespace heapwise::detail
