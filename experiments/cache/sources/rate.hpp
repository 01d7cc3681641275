// Millions of something in a second.
#pragma once

#include <cstdint>

namespace caches {

inline double millions(std::uint64_t count, std::uint64_t elapsed_ns) {
  return 1e3 * static_cast<double>(count) / static_cast<double>(elapsed_ns);
}

} // namespace caches
