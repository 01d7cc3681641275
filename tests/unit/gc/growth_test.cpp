// How large the heap becomes beside its live blocks.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "surroundings.hpp"

using gc_test::statistics;

namespace {

constexpr std::size_t count = 100'000;
void** the_blocks; // a root

std::uint64_t next_random(std::uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Effects: replaces blocks in random order, so that hardly any span becomes free as a whole.
void replace_blocks(std::uint64_t& state, std::size_t replacements) {
  for (std::size_t each = 0; each < replacements; ++each) {
    const std::uint64_t random = next_random(state);
    void*& block = the_blocks[random % count];
    block = heapwise_gc_malloc(16 + random / count % 240);
  }
}

} // namespace

TEST_CASE("a heap of blocks that are replaced at random stops growing") {
  heapwise_gc_init(nullptr);
  the_blocks = static_cast<void**>(heapwise_gc_malloc(count * sizeof(void*)));
  std::uint64_t state = 88'172'645'463'325'252;
  replace_blocks(state, 20 * count);
  const heapwise_gc_statistics full = statistics();
  replace_blocks(state, 20 * count);
  const heapwise_gc_statistics later = statistics();
  CHECK(later.collections > full.collections + 5);
  // By default 1.7 times the live bytes, and a third of them for kinds that are not wanted. Each
  // thread has a span of each kind beside that.
  CHECK(4 * later.peak_heap_bytes < 9 * later.live_bytes);
  the_blocks = nullptr;
}
