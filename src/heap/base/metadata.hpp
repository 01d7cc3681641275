// Memory for what the heap knows of its threads and batches, apart from its addresses. In the
// profiles that check every call it lies between addresses without access: an overrun of what the
// system placed beside it faults.
#pragma once

#include <cstddef>

#include "heap/base/profile.hpp"
#include "os/expects.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

/// Effects: as os::map. Requires: a size that is a multiple of the alignment.
[[nodiscard]] inline void* map_metadata(std::size_t bytes, std::size_t alignment) noexcept {
  expects(bytes % alignment == 0, "tables are as long as aligned");
  if constexpr (chosen_profile.scatters_tables) {
    const std::size_t all = bytes + 2 * alignment;
    auto* const begin = static_cast<std::byte*>(os::reserve(all, alignment));
    if (begin == nullptr) return nullptr;
    if (os::commit(begin + alignment, bytes)) return begin + alignment;
    os::unmap(begin, all);
    return nullptr;
  }
  return os::map(bytes, alignment);
}

/// Effects: as os::unmap, for what map_metadata returned with the same alignment.
inline bool unmap_metadata(void* memory, std::size_t bytes, std::size_t alignment) noexcept {
  if constexpr (chosen_profile.scatters_tables) {
    return os::unmap(static_cast<std::byte*>(memory) - alignment, bytes + 2 * alignment);
  }
  return os::unmap(memory, bytes);
}

} // namespace heapwise::detail
