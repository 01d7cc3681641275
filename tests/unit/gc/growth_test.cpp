// How large the heap becomes beside its live blocks.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "surroundings.hpp"

using gc_test::statistics;

namespace {

constexpr std::size_t count = 100'000;
void** the_blocks; // a root
void** the_list;   // a root

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

/// Returns: by how much the heap may grow until the next collection, as a share of what is live.
double growth_of_list(std::size_t block_bytes) {
  heapwise_gc_init(nullptr);
  for (std::size_t each = 0; each < 10 * count; ++each) {
    auto** const block = static_cast<void**>(heapwise_gc_malloc(block_bytes));
    *block = the_list;
    the_list = block;
  }
  heapwise_gc_collect();
  const heapwise_gc_statistics told = statistics();
  REQUIRE(told.live_bytes >= 10 * count * 16);
  return static_cast<double>(told.target_heap_bytes) / static_cast<double>(told.live_bytes) - 1;
}

} // namespace

// A quarter of the growth more stays if the heap was as large before.
TEST_CASE("a heap of blocks of two words may grow by as much as lives") {
  const double growth = growth_of_list(2 * sizeof(void*));
  CHECK(growth > 0.95);
  CHECK(growth < 1.3);
}

TEST_CASE("a heap of blocks of one word may grow by two thirds of what lives, as that of others") {
  const double growth = growth_of_list(sizeof(void*));
  CHECK(growth > 0.62);
  CHECK(growth < 0.87);
}

TEST_CASE("a heap of larger blocks may grow by more if all of their bytes are used") {
  const double growth = growth_of_list(48); // 2/3 and 64/3 bytes for each
  CHECK(growth > 1.08);
  CHECK(growth < 1.4);
}

TEST_CASE("a heap of larger blocks that are not used up may grow by two thirds of what lives") {
  const double growth = growth_of_list(40);
  CHECK(growth > 0.62);
  CHECK(growth < 0.87);
}

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
