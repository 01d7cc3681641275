// Blocks that are signed, so that a test sees whether a refusal spoilt them.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <vector>

#include <heapwise/malloc.h>

#include "faulty/system.hpp"
#include "stress/threads.hpp"

namespace faulty {

struct kept_block {
  unsigned char* bytes = nullptr;
  std::size_t size = 0;
};

/// Effects: signs a block, or sees that a refusal is told as it should be.
inline void keep(std::vector<kept_block>& all, void* block, std::size_t size) {
  if (block == nullptr) {
    EXPECT(errno == ENOMEM);
    return;
  }
  std::memset(block, static_cast<int>(all.size() % 251), size);
  all.push_back({static_cast<unsigned char*>(block), size});
}

inline void expect_signed(const kept_block& block, std::size_t index, std::size_t size) {
  for (std::size_t i = 0; i < size; i += i < 64 || i + 64 > size ? 1 : 61) {
    EXPECT(block.bytes[i] == index % 251);
  }
}

inline void free_all(std::vector<kept_block>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect_signed(all[i], i, all[i].size);
    errno = 4321;
    heapwise_free(all[i].bytes);
    EXPECT(errno == 4321);
  }
  all.clear();
}

inline void small_blocks() {
  std::vector<kept_block> all;
  stress::random draw{1};
  for (int i = 0; i < 3000; ++i) {
    const std::size_t size = draw.below(i % 20 == 0 ? 20'000 : 700);
    errno = 0;
    keep(all, i % 5 == 0 ? heapwise_calloc(1, size) : heapwise_malloc(size), size);
  }
  free_all(all);
}

} // namespace faulty
