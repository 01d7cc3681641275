// What a pool experiment asks of whatever it takes blocks from.
//
// A source is a class with `explicit source(const demand&)`, `void* allocate()`, which may return
// null or throw when there is no block, and `void deallocate(void*)`. Both are always inlined, so
// that the wrapper costs nobody anything: what it calls is inlined as its library says.
#pragma once

#include <cstddef>

namespace pools {

struct demand {
  std::size_t block_size;
  std::size_t block_count; ///< blocks that will be out at the same time, at most
  bool growing = false;    ///< start with `first_count` blocks instead of all of them
  std::size_t first_count = 1024;

  [[nodiscard]] std::size_t at_start() const noexcept {
    return growing && first_count < block_count ? first_count : block_count;
  }
};

} // namespace pools
