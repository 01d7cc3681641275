
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap/base/options.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/front/uncommon.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"

namespace {

using namespace heap_tests;

/// While it exists the heap may use no more slices than it does.
class full_heap {
 public:
  full_heap() { the_options.limit_bytes = the_space.used_bytes(); }
  ~full_heap() { the_options.limit_bytes = unlimited_; }
  full_heap(const full_heap&) = delete;
  full_heap& operator=(const full_heap&) = delete;

 private:
  std::size_t unlimited_ = the_options.limit_bytes;
};

/// Effects: leaves free blocks of the size in the thread's cache and its bin.
void fill_caches(std::size_t size, std::size_t bytes) {
  std::vector<void*> blocks;
  for (std::size_t taken = 0; taken < bytes; taken += size) {
    blocks.push_back(heapwise_malloc(size));
  }
  for (void* const each : blocks) heapwise_free(each);
}

constexpr std::size_t mib = std::size_t{1} << 20;

TEST_CASE("before a request fails, what waits in caches and stocks is used for it") {
  start_without_clock();
  bring_everything_home();
  SUBCASE("a large block") {
    fill_caches(32'768, 2 * mib);
    const full_heap full;
    void* const block = heapwise_malloc(mib);
    CHECK(block != nullptr);
    heapwise_free(block);
  }
  SUBCASE("a small block of another size") {
    fill_caches(32'768, 2 * mib);
    const full_heap full;
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(heapwise_malloc(2'000));
    for (void* const each : blocks) CHECK(each != nullptr);
    for (void* const each : blocks) heapwise_free(each);
  }
  SUBCASE("a block that grows") {
    void* block = heapwise_malloc(mib);
    void* const wall = heapwise_malloc(mib);
    REQUIRE((block != nullptr && wall != nullptr));
    std::memset(block, 1, mib);
    fill_caches(32'768, 2 * mib);
    heapwise_free(wall);
    {
      const full_heap full;
      void* const wide = heapwise_realloc(block, mib + mib / 2);
      CHECK(wide != nullptr);
      if (wide != nullptr) block = wide;
    }
    heapwise_free(block);
  }
  SUBCASE("a block of a heap of its own") {
    heapwise_heap* const heap = heapwise_heap_create();
    fill_caches(32'768, 2 * mib);
    const full_heap full;
    CHECK(heapwise_heap_malloc(heap, mib) != nullptr);
    heapwise_heap_destroy(heap);
  }
  SUBCASE("what a thread left behind") {
    std::thread{[] { fill_caches(8'192, 4 * mib); }}.join();
    const full_heap full;
    void* const block = heapwise_malloc(mib / 2);
    CHECK(block != nullptr);
    heapwise_free(block);
  }
}

/// Effects: cuts all holes of mixed spans into blocks of the class. Returns: the blocks.
std::vector<std::byte*> cut_all_holes(size_class class_index) {
  std::vector<std::byte*> taken;
  std::byte* block = nullptr;
  for (std::byte** top = &block; the_mixed_spans.take(top, 1, class_index) > 0; top = &block) {
    taken.push_back(block);
  }
  return taken;
}

TEST_CASE("a small block fits where blocks of a mixed span waited in a cache") {
  start_without_clock();
  free_what_waits();
  const size_class of_64 = class_of(64);
  bin& from = the_bins[of_64];
  std::vector<std::byte*> blocks = take_blocks(from, of_64, class_table[of_64].blocks);
  span& home = the_space.span_at(blocks[0]);
  for (std::size_t at = 0; at < 100; ++at) heapwise_free(blocks[at]); // into this thread's cache
  put_back(from, {blocks.begin() + 200, blocks.end()}, of_64);
  while (home.use.load() != slice_use::mixed) REQUIRE(from.let_go_sparsest(of_64, 1));
  const std::vector<std::byte*> others = cut_all_holes(of_64);
  {
    const full_heap full;
    void* const block = heapwise_malloc(1'000);
    CHECK(block != nullptr);
    if (block != nullptr) CHECK(&the_space.span_at(block) == &home);
    heapwise_free(block);
  }
  put_back(from, {blocks.begin() + 100, blocks.begin() + 200}, of_64);
  put_back(from, others, of_64);
  bring_everything_home();
  CHECK(the_mixed_spans.count() == 0);
}

/// Effects: takes a block that has nothing in use behind it, and no free slice before it.
/// Returns: the block. `fillers` are the blocks that fill the slices before it.
void* make_last_block(std::size_t size, std::vector<void*>& fillers) {
  void* const block = heapwise_realloc(heapwise_malloc(size + 64 * mib), size);
  do {
    fillers.push_back(heapwise_malloc(slice_bytes));
  } while (fillers.back() < block);
  heapwise_free(fillers.back());
  fillers.pop_back();
  return block;
}

TEST_CASE("a block grows into what waited in caches and stocks behind it") {
  start_without_clock();
  free_what_waits();
  std::vector<void*> fillers;
  void* block = make_last_block(4 * mib, fillers);
  std::memset(block, 1, 4 * mib);
  fill_caches(32'768, 2 * mib);
  {
    const full_heap full;
    void* const longer = heapwise_realloc(block, 4 * mib + slice_bytes); // too long to have twice
    CHECK(longer == block);
    if (longer != nullptr) block = longer;
  }
  for (std::size_t at = 0; at < 4 * mib; at += 501) {
    REQUIRE(static_cast<unsigned char*>(block)[at] == 1);
  }
  heapwise_free(block);
  for (void* const each : fillers) heapwise_free(each);
}

TEST_CASE("a request of a heap of its own that no heap could meet leaves the caches alone") {
  start_without_clock();
  heapwise_heap* const heap = heapwise_heap_create();
  fill_caches(32'768, 2 * mib);
  const std::size_t cached = own_cached_bytes();
  REQUIRE(cached > 0);
  CHECK(heapwise_heap_malloc(heap, the_space.reserved_bytes() + 1) == nullptr);
  CHECK(heapwise_heap_malloc(heap, SIZE_MAX) == nullptr);
  CHECK(own_cached_bytes() == cached);
  heapwise_heap_destroy(heap);
}

TEST_CASE("a request that cannot be met fails, and all that was there can be used") {
  start_without_clock();
  fill_caches(32'768, 2 * mib);
  const full_heap full;
  CHECK(heapwise_malloc(the_space.used_bytes() + mib) == nullptr);
  void* const block = heapwise_malloc(mib);
  CHECK(block != nullptr);
  heapwise_free(block);
}

TEST_CASE("a thread without a cache takes from the batches of its bin") {
  start_without_clock();
  bring_everything_home();
  constexpr std::size_t size = 32'768;
  const size_class class_index = class_of(size);
  bin& from = the_bins[class_index];
  const std::vector<std::byte*> blocks =
      take_blocks(from, class_index, std::size_t{4} * class_table[class_index].batch);
  for (std::size_t at = 0; at < blocks.size(); at += class_table[class_index].batch) {
    lone_batch{class_index}.flush(from, &blocks[at]);
  }
  REQUIRE(from.figures(class_index).stocked_blocks == blocks.size());
  const std::size_t used = the_space.used_bytes();
  std::vector<std::byte*> taken;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    taken.push_back(static_cast<std::byte*>(from.take_one(class_index)));
    CHECK(taken.back() != nullptr);
  }
  CHECK(the_space.used_bytes() <= used);
  put_back(from, taken, class_index);
}

} // namespace
