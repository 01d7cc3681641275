// Blocks of the heap that carry their numbers: a block that two owners share, or one loses, is
// seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include <heapwise/malloc.h>

#include "contents.hpp"
#include "threads.hpp"

namespace stress {

/// A block signed from its first byte to its last. Plain memory, so that sanitizers see a block
/// that reaches its next owner without an order between the two.
struct signed_block {
  std::byte* bytes = nullptr;
  std::size_t size = 0;
  std::uint8_t sign = 0;

  [[nodiscard]] bool is_intact() const noexcept { return all_are(bytes, size, sign); }
};

/// Returns: a signed block of one of many sizes, from one of the functions that make blocks;
/// without bytes if the heap has none.
inline signed_block make_block(random& draw) {
  const std::size_t size = draw.below(64) == 0 ? draw.below(200'000) : draw.below(1000);
  void* block = nullptr;
  switch (draw.below(8)) {
    case 0:
      block = heapwise_calloc(1, size);
      break;
    case 1:
      block = heapwise_aligned_alloc(std::size_t{16} << draw.below(6), size);
      break;
    case 2:
      block = heapwise_realloc(nullptr, size);
      break;
    default:
      block = heapwise_malloc(size);
  }
  signed_block result{static_cast<std::byte*>(block), size, static_cast<std::uint8_t>(draw())};
  if (block != nullptr) std::memset(block, result.sign, size);
  return result;
}

/// Effects: frees it in one of the ways there are. Returns: whether it was still what it was.
inline bool free_block(const signed_block& block, random& draw) {
  if (block.bytes == nullptr) return true;
  const bool intact = block.is_intact();
  switch (draw.below(4)) {
    case 0:
      heapwise_free_sized(block.bytes, block.size);
      break;
    case 1:
      heapwise_realloc(block.bytes, 0);
      break;
    default:
      heapwise_free(block.bytes);
  }
  return intact;
}

/// Effects: changes its size. Returns: whether what is left of its content is right.
inline bool resize_block(signed_block& block, random& draw) {
  const std::size_t wanted = 1 + draw.below(block.size * 2 + 16);
  auto* const new_block = static_cast<std::byte*>(heapwise_realloc(block.bytes, wanted));
  if (new_block == nullptr) return true;
  const signed_block kept{new_block, wanted < block.size ? wanted : block.size, block.sign};
  const bool intact = block.bytes == nullptr || kept.is_intact();
  block = {new_block, wanted, block.sign};
  std::memset(new_block, block.sign, wanted);
  return intact;
}

/// Effects: makes, resizes and frees blocks, at most `places` at once; none is left.
/// Returns: how many were not what they were.
inline std::size_t churn_heap(random& draw, std::size_t steps, std::size_t places = 40) {
  std::vector<signed_block> mine(places);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    signed_block& place = mine[draw.below(places)];
    if (place.bytes != nullptr && draw.below(8) == 0) {
      wrong += resize_block(place, draw) ? 0 : 1;
      continue;
    }
    wrong += free_block(std::exchange(place, {}), draw) ? 0 : 1;
    place = make_block(draw);
  }
  for (const signed_block& each : mine) wrong += free_block(each, draw) ? 0 : 1;
  return wrong;
}

} // namespace stress
