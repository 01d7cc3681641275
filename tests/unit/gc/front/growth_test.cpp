// How large the heap becomes beside its live blocks.
#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

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

/// Returns: the bytes of free memory that are still with the process.
std::size_t free_dirty_bytes() {
  using namespace heapwise::gc;
  const std::lock_guard hold{the_gc.lock};
  std::size_t bytes = 0;
  for (slice_index each = space::first_slice; each < the_gc.memory.top(); ++each) {
    const bool is_free = the_gc.memory.kind_at(each) == no_kind;
    if (is_free && the_gc.memory.record(each).dirty.load()) bytes += slice_bytes;
  }
  return bytes;
}

/// Effects: allocates until there is another collection, at least a span each time.
void allocate_until_collected() {
  const std::size_t before = statistics().collections;
  for (int each = 0; each < 100'000 && statistics().collections == before; ++each) {
    static_cast<void>(heapwise_gc_malloc_atomic(heapwise::gc::max_small_bytes));
  }
  REQUIRE(statistics().collections > before);
}

/// Effects: there were blocks of 64 MiB, and nothing keeps them any more. A word that is left
/// somewhere keeps one of them, since they do not point to each other.
void leave_peak() {
  static std::array<void*, 65'536> blocks;
  gc_test::elsewhere([] {
    for (void*& block : blocks) block = heapwise_gc_malloc(1024);
  });
  heapwise_gc_collect();
  REQUIRE(statistics().live_bytes >= std::size_t{64} << 20);
  blocks.fill(nullptr);
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

TEST_CASE("after a peak, memory goes back in parts, one with each span that is taken") {
  constexpr std::size_t mib = std::size_t{1} << 20;
  constexpr std::size_t most_spans = 64;
  heapwise_gc_init(nullptr);
  leave_peak();
  allocate_until_collected();
  std::size_t before = free_dirty_bytes();
  CHECK(before > 32 * mib); // the first part went, the others wait
  std::size_t spans = 0;
  for (; heapwise::gc::the_gc.part_bytes != 0 && spans < most_spans; ++spans) {
    static_cast<void>(heapwise_gc_malloc_atomic(heapwise::gc::max_small_bytes));
    const std::size_t now = free_dirty_bytes();
    REQUIRE(before - now <= 8 * mib);
    before = now;
  }
  CHECK(spans > 4);
  CHECK(heapwise::gc::the_gc.part_bytes == 0);
  CHECK(before <= heapwise::gc::the_gc.kept_bytes);
  CHECK(heapwise::gc::the_gc.kept_bytes < 16 * mib);
}

TEST_CASE("a collection that the program asks for gives the memory of a peak back at once") {
  constexpr std::size_t mib = std::size_t{1} << 20;
  heapwise_gc_init(nullptr);
  leave_peak();
  heapwise_gc_collect();
  CHECK(statistics().live_bytes < mib);
  CHECK(free_dirty_bytes() <= heapwise::gc::the_gc.kept_bytes);
  CHECK(heapwise::gc::the_gc.kept_bytes < 64 * mib);
  CHECK(heapwise::gc::the_gc.part_bytes == 0);
}
