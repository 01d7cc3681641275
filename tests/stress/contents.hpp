// What blocks hold, and whether they are different ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

namespace stress {

/// Returns: whether all bytes have this value.
///
/// One call of the C library: a loop takes many times as long where it is not optimized, or where
/// each access is watched. A sanitizer watches all that the call reads.
inline bool all_are(const void* begin, std::size_t size, unsigned char value) noexcept {
  const auto* const bytes = static_cast<const unsigned char*>(begin);
  return size == 0 || (bytes[0] == value && std::memcmp(bytes, bytes + 1, size - 1) == 0);
}

/// Returns: whether no block is there twice.
inline bool are_distinct(std::vector<void*> blocks) {
  std::sort(blocks.begin(), blocks.end());
  return std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end();
}

} // namespace stress
