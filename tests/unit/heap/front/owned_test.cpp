#include "heap/front/owned.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

struct a_heap {
  a_heap() {
    start_without_clock();
    own_heap = heapwise_heap_create();
    REQUIRE(own_heap != nullptr);
  }
  ~a_heap() { heapwise_heap_destroy(own_heap); }
  a_heap(const a_heap&) = delete;
  a_heap& operator=(const a_heap&) = delete;

  std::byte* allocate(std::size_t size, std::size_t alignment = 16) {
    return static_cast<std::byte*>(heapwise_heap_aligned_alloc(own_heap, alignment, size));
  }
  heapwise_heap* own_heap;
};

TEST_CASE("blocks destroyed with a heap are back in the space, whatever was freed before") {
  start_without_clock();
  heapwise_heap_destroy(heapwise_heap_create()); // its own record has a span from now on
  const std::size_t used = the_space.used_bytes();
  const std::size_t heaps = owned_heap_count();
  {
    a_heap some;
    CHECK(owned_heap_count() == heaps + 1);
    stress::random draw{1};
    for (int i = 0; i < 3'000; ++i) {
      std::byte* const block =
          some.allocate(draw.below(40) == 0 ? draw.below(300'000) : draw.below(3'000));
      REQUIRE(block != nullptr);
      if (draw.below(2) == 0) heapwise_free(block);
    }
    CHECK(the_space.used_bytes() > used + (1 << 20));
  }
  CHECK(owned_heap_count() == heaps);
  CHECK(the_space.used_bytes() == used);
}

TEST_CASE("a block that is resized stays in its heap, and goes with it") {
  start_without_clock();
  heapwise_heap_destroy(heapwise_heap_create());
  bring_everything_home();
  const std::size_t used = the_space.used_bytes();
  {
    a_heap some;
    std::byte* block = some.allocate(100);
    std::memset(block, 1, 100);
    std::size_t kept = 100;
    for (const std::size_t size : {200UL, 5'000UL, 40'000UL, 3'000'000UL, 50'000UL, 60UL}) {
      block = static_cast<std::byte*>(heapwise_realloc(block, size));
      REQUIRE(block != nullptr);
      kept = std::min(kept, size);
      CHECK(std::all_of(block, block + kept, [](std::byte at) { return at == std::byte{1}; }));
      CHECK(heapwise_malloc_usable_size(block) >= size);
      CHECK(the_space.find_span(block)->use.load() == slice_use::owned);
    }
    CHECK(heapwise_realloc(block, 61) == block); // of the same class
  }
  CHECK(the_space.used_bytes() == used);
}

TEST_CASE("every size and alignment, none of them shared, all of them as large as asked for") {
  a_heap some;
  live_blocks live;
  std::vector<std::byte*> blocks;
  for (const std::size_t size :
       {0UL, 1UL, 16UL, 17UL, 100UL, 1000UL, 4096UL, 30'000UL, 32'768UL, 32'769UL, 200'000UL}) {
    for (std::size_t alignment = 1; alignment <= 1 << 18; alignment *= 2) {
      std::byte* const block = some.allocate(size, alignment);
      REQUIRE(block != nullptr);
      REQUIRE(reinterpret_cast<std::uintptr_t>(block) % alignment == 0);
      const std::size_t usable = heapwise_malloc_usable_size(block);
      REQUIRE(usable >= size);
      REQUIRE(live.add(block, std::max(usable, std::size_t{1})));
      blocks.push_back(block);
    }
  }
  for (std::byte* each : blocks) {
    REQUIRE(live.remove(each));
    heapwise_free(each);
  }
}

TEST_CASE("a block that came back is the next of its size, and large ones leave at once") {
  a_heap some;
  std::byte* const small = some.allocate(100);
  some.allocate(100);
  heapwise_free(small);
  CHECK(some.allocate(100) == small);
  const std::size_t used = the_space.used_bytes();
  std::byte* const large = some.allocate(1'000'000);
  CHECK(the_space.used_bytes() == used + 16 * slice_bytes);
  heapwise_free(large);
  CHECK(the_space.used_bytes() == used);
}

TEST_CASE("impossible requests are refused") {
  a_heap some;
  CHECK(some.allocate(SIZE_MAX) == nullptr);
  CHECK(some.allocate(PTRDIFF_MAX) == nullptr);
  CHECK(some.allocate(std::size_t{1} << 62) == nullptr);
  CHECK(some.allocate(16, std::size_t{1} << 62) == nullptr);
  CHECK(some.allocate(16, 3) == nullptr);
  CHECK(some.allocate(16, 0) == nullptr);
  heapwise_heap_destroy(nullptr);
}

TEST_CASE("other threads give blocks back while the heap's own takes more") {
  a_heap some;
  constexpr std::size_t count = 2'000;
  std::vector<std::byte*> blocks;
  for (std::size_t i = 0; i < count; ++i) blocks.push_back(some.allocate(16 + i % 500));
  live_blocks live;
  stress::on_threads(3, [&](std::size_t me) {
    if (me == 0) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!live.add(some.allocate(16 + i % 500), 16)) std::abort();
      }
      return;
    }
    for (std::size_t i = me - 1; i < count; i += 2) heapwise_free(blocks[i]);
  });
  CHECK(live.size() == count);
}

TEST_CASE("a block of it that is freed twice, and an address inside of one, end the process") {
  a_heap some;
  std::byte* const small = some.allocate(100);
  std::byte* const wide = some.allocate(30'000);
  std::byte* const large = some.allocate(100'000);
  const auto aborts = [](auto body) { return contract::in_child(body).signal == SIGABRT; };
  CHECK(aborts([&] {
    heapwise_free(small);
    heapwise_free(small);
  }));
  CHECK(aborts([&] { heapwise_free(small + 16); }));
  CHECK(aborts([&] { heapwise_free(wide + 16); }));
  CHECK(aborts([&] { heapwise_free(large + 16); }));
  CHECK(aborts([&] { heapwise_free(large + slice_bytes); }));
  CHECK(aborts([&] {
    heapwise_free(large);
    heapwise_free(large);
  }));
}

TEST_CASE("the rest of a wide span is not a block of a narrow one at its beginning") {
  std::byte* wide = nullptr;
  {
    a_heap first;
    wide = first.allocate(30'000);
    REQUIRE(wide == the_space.begin_of(the_space.span_at(wide)));
  }
  const contract::ending how = contract::in_child([&] {
    while (heapwise_heap_malloc(heapwise_heap_create(), 16) != wide) {
    }
    heapwise_free(wide + slice_bytes);
  });
  CHECK(how.signal == SIGABRT);
}

TEST_CASE("a resized block of a heap keeps its content, wherever it goes") {
  a_heap some;
  for (const std::size_t size : {20UL, 2'000UL, 32'768UL, 200'000UL}) {
    CAPTURE(size);
    std::byte* const block = some.allocate(size);
    std::memset(block, 0x44, size);
    auto* const new_block = static_cast<std::byte*>(heapwise_realloc(block, size * 3));
    REQUIRE(new_block != nullptr);
    CHECK(std::all_of(new_block, new_block + size,
                      [](std::byte at) { return at == std::byte{0x44}; }));
    heapwise_free(new_block);
  }
}

} // namespace
