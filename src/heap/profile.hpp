// The profile that this library was built with.
#pragma once

#include "heapwise/detail/heap_cache.hpp"

namespace heapwise::detail {

using chosen_profile = HEAPWISE_PROFILE;

/// Where the heap lives. Every cache has a copy.
extern heap_map the_heap_map;

/// What links are sealed with, in the whole process. Set once, before the first block exists.
extern std::uintptr_t the_link_key;

inline std::byte* link_of(const void* block) noexcept {
  return load_link<chosen_profile>(block, the_link_key);
}
inline void set_link(void* block, const void* next) noexcept {
  store_link<chosen_profile>(block, next, the_link_key);
}

} // namespace heapwise::detail
