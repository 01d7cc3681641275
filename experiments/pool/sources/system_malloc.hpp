// malloc, whichever library provides it in this process.
#pragma once

#include <cstdlib>

#include "sources/demand.hpp"

namespace pools {

class system_malloc {
 public:
  explicit system_malloc(const demand& wanted) : block_size_{wanted.block_size} {}

  [[gnu::always_inline]] void* allocate() { return std::malloc(block_size_); }
  [[gnu::always_inline]] void deallocate(void* block) { std::free(block); }

 private:
  std::size_t block_size_;
};

} // namespace pools
