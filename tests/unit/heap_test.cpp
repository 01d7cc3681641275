#include <heapwise/heap.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <list>
#include <map>
#include <new>
#include <numeric>
#include <string>
#include <thread>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t sizes[] = {0,    1,    15,   16,    17,    64,    100,
                                 1000, 4096, 5000, 32767, 32768, 32769, 100'000};

TEST_CASE("blocks of every size, given back with and without it") {
  start_without_clock();
  live_blocks live;
  std::vector<void*> blocks;
  for (int round = 0; round < 20; ++round) {
    for (const std::size_t size : sizes) {
      void* const block = heapwise::allocate(size);
      REQUIRE(reinterpret_cast<std::uintptr_t>(block) % 16 == 0);
      REQUIRE(heapwise_malloc_usable_size(block) >= heapwise::good_size(size));
      REQUIRE(live.add(block, std::max<std::size_t>(size, 1)));
      blocks.push_back(block);
    }
  }
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    REQUIRE(live.remove(blocks[at]));
    if (at % 3 == 0) {
      heapwise::deallocate(blocks[at]);
    } else {
      heapwise::deallocate(blocks[at], sizes[at % std::size(sizes)]);
    }
  }
  heapwise::deallocate(nullptr);
}

TEST_CASE("every alignment, given back with what it was asked for") {
  live_blocks live;
  for (std::size_t boundary = 1; boundary <= std::size_t{1} << 20; boundary *= 2) {
    const std::align_val_t alignment{boundary};
    std::vector<void*> blocks;
    for (const std::size_t size : sizes) {
      for (int i = 0; i < 3; ++i) {
        blocks.push_back(heapwise::allocate(size, alignment));
        REQUIRE(reinterpret_cast<std::uintptr_t>(blocks.back()) % boundary == 0);
        REQUIRE(live.add(blocks.back(), std::max<std::size_t>(size, 1)));
      }
    }
    for (std::size_t at = 0; at < blocks.size(); ++at) {
      REQUIRE(live.remove(blocks[at]));
      heapwise::deallocate(blocks[at], sizes[at / 3], alignment);
    }
  }
}

TEST_CASE("requests for more memory than there is") {
  const std::size_t too_much = std::size_t{1} << 62;
  CHECK(heapwise::try_allocate(too_much) == nullptr);
  CHECK_THROWS_AS((void)heapwise::allocate(too_much), std::bad_alloc);
  CHECK_THROWS_AS((void)heapwise::allocate(too_much, std::align_val_t{64}), std::bad_alloc);
  CHECK_THROWS_AS((void)heapwise::allocate(1, std::align_val_t{too_much}), std::bad_alloc);
  heapwise::heap_allocator<std::uint64_t> some;
  CHECK_THROWS_AS((void)some.allocate(SIZE_MAX / 8 + 1), std::bad_array_new_length);
  CHECK_THROWS_AS((void)some.allocate(SIZE_MAX / 8), std::bad_alloc);
}

TEST_CASE("the block given back last, by its size, is the next of its size for both ways to ask") {
  void* const first = heapwise::allocate(64);
  void* const second = heapwise::allocate(64);
  heapwise::deallocate(first, 64);
  CHECK(heapwise::allocate(64) == first);
  heapwise::deallocate(first, 64);
  heapwise::deallocate(second, 64);
  CHECK(heapwise::allocate(50) == second); // 49 to 64 bytes are one class
  CHECK(heapwise_malloc(64) == first);
  heapwise::deallocate(first);
  heapwise::deallocate(second);
}

TEST_CASE("blocks that a thread kept at hand are not lost when it ends") {
  start_without_clock();
  bring_everything_home();
  const std::size_t before = the_bins[class_of(96)].free_blocks();
  std::thread{[] { heapwise::deallocate(heapwise::allocate(96), 96); }}.join();
  bring_everything_home();
  const std::size_t blocks = class_table[class_of(96)].blocks;
  CHECK((the_bins[class_of(96)].free_blocks() - before) % blocks == 0);
}

TEST_CASE("a block freed twice in a row ends the process, whichever way it went first") {
  void* const block = heapwise::allocate(64);
  void* const other = heapwise::allocate(64);
  const auto aborts = [](auto body) {
    const contract::ending how = contract::in_child([&] {
      body();
      bring_everything_home(); // at the latest now
    });
    return how.signal == SIGABRT && how.error.find("freed before") != std::string::npos;
  };
  CHECK(aborts([&] {
    heapwise::deallocate(block, 64);
    heapwise::deallocate(block, 64);
  }));
  CHECK(aborts([&] {
    heapwise::deallocate(block);
    heapwise::deallocate(block);
  }));
  CHECK(aborts([&] {
    heapwise::deallocate(block);
    heapwise::deallocate(block, 64);
  }));
  CHECK(aborts([&] {
    heapwise::deallocate(block, 64);
    heapwise::deallocate(block);
  }));
  CHECK(aborts([&] {
    heapwise::deallocate(block, 64);
    heapwise::deallocate(other, 64);
    heapwise::deallocate(block, 64);
  }));
  heapwise::deallocate(block);
  heapwise::deallocate(other);
}

TEST_CASE("a stack that is full takes the block at hand along") {
  start_without_clock();
  std::vector<void*> blocks;
  for (int i = 0; i < 1'000; ++i) blocks.push_back(heapwise::allocate(64));
  live_blocks live;
  for (void* each : blocks) heapwise::deallocate(each, 64);
  for (void*& each : blocks) {
    each = heapwise::allocate(64);
    REQUIRE(live.add(each, 64));
  }
  for (void* each : blocks) heapwise::deallocate(each, 64);
  bring_everything_home();
  CHECK(the_bins[class_of(64)].free_blocks() % class_table[class_of(64)].blocks == 0);
}

template <class Value>
using on_heap = heapwise::heap_allocator<Value>;

TEST_CASE("standard containers") {
  std::vector<int, on_heap<int>> numbers;
  for (int i = 0; i < 100'000; ++i) numbers.push_back(i); // small, then large blocks
  CHECK(std::accumulate(numbers.begin(), numbers.end(), 0LL) == 4'999'950'000);
  std::map<int, std::string, std::less<>, on_heap<std::pair<const int, std::string>>> tree;
  std::list<double, on_heap<double>> list;
  std::unordered_map<int, int, std::hash<int>, std::equal_to<>, on_heap<std::pair<const int, int>>>
      table;
  for (int i = 0; i < 2'000; ++i) {
    tree[i % 700] += 'x';
    list.push_front(i);
    table[i] = -i;
    if (i % 3 == 0) list.pop_back();
    if (i % 5 == 0) table.erase(i / 2);
  }
  CHECK(tree.size() == 700);
  CHECK(std::all_of(table.begin(), table.end(),
                    [](auto& each) { return each.first == -each.second; }));
  const auto copied = numbers;
  const auto target = std::move(numbers);
  CHECK(copied == target);
  using text = std::basic_string<char, std::char_traits<char>, on_heap<char>>;
  CHECK(text(1'000, 'a') + text(50, 'b') == text(1'000, 'a').append(50, 'b'));
}

TEST_CASE("values that want more alignment than others get it in containers") {
  struct alignas(256) wide {
    std::byte bytes[256];
  };
  std::vector<wide, on_heap<wide>> some;
  for (int i = 0; i < 200; ++i) {
    some.emplace_back();
    REQUIRE(reinterpret_cast<std::uintptr_t>(some.data()) % 256 == 0);
  }
  std::list<wide, on_heap<wide>> nodes(10);
  for (const wide& each : nodes) REQUIRE(reinterpret_cast<std::uintptr_t>(&each) % 256 == 0);
}

TEST_CASE(
    "a request for at least some bytes tells how many there are, and each such size frees it") {
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 17, 100, 1'000, 20'000, 32'768, 32'769, 100'000}) {
    CAPTURE(size);
    const heapwise::sized_block least = heapwise::allocate_at_least(size);
    CHECK(least.size_bytes >= size);
    CHECK(least.size_bytes == heapwise_malloc_usable_size(least.block));
    std::memset(least.block, 1, least.size_bytes);
    heapwise::deallocate(least.block, size);
    const heapwise::sized_block again = heapwise::allocate_at_least(size);
    CHECK(again.size_bytes == least.size_bytes);
    heapwise::deallocate(again.block, again.size_bytes);
  }
}

/// Effects: asks for memory for `count` values, and gives it back as if it were for all that fit.
template <class Value>
void take_at_least(std::size_t count) {
  on_heap<Value> allocator;
  const auto result = allocator.allocate_at_least(count);
  CHECK(result.count >= count);
  CHECK(result.count * sizeof(Value) <= heapwise_malloc_usable_size(result.ptr));
  std::memset(static_cast<void*>(result.ptr), 1, result.count * sizeof(Value));
  allocator.deallocate(result.ptr, result.count);
  CHECK(allocator.allocate(count) == result.ptr); // of the same class
  allocator.deallocate(result.ptr, count);
}

TEST_CASE("an allocator tells for how many values there is room") {
  struct alignas(64) wide {
    std::byte bytes[192];
  };
  for (const std::size_t count :
       std::initializer_list<std::size_t>{1, 3, 100, 150}) { // small blocks
    CAPTURE(count);
    take_at_least<char>(count);
    take_at_least<std::array<char, 24>>(count);
    take_at_least<wide>(count);
  }
  const auto large = on_heap<int>{}.allocate_at_least(20'000);
  CHECK(large.count * sizeof(int) == heapwise_malloc_usable_size(large.ptr));
  on_heap<int>{}.deallocate(large.ptr, large.count);
}

TEST_CASE("all allocators are equal, and none takes room") {
  CHECK(on_heap<int>{} == on_heap<int>{on_heap<char>{}});
  static_assert(std::allocator_traits<on_heap<int>>::is_always_equal::value);
  static_assert(std::is_empty_v<on_heap<int>>);
}

TEST_CASE("a heap of its own: one by one, all at once, and moved") {
  heapwise::heap some;
  live_blocks live;
  for (const std::size_t size : sizes) {
    REQUIRE(live.add(some.allocate(size), std::max<std::size_t>(size, 1)));
  }
  void* const aligned = some.allocate(100, 4096);
  CHECK(reinterpret_cast<std::uintptr_t>(aligned) % 4096 == 0);
  some.deallocate(aligned);
  some.deallocate(nullptr);
  heapwise::heap other{std::move(some)};
  other.clear();
  void* const fresh = other.allocate(64);
  std::memset(fresh, 1, 64);
  CHECK_THROWS_AS((void)other.allocate(std::size_t{1} << 62), std::bad_alloc);
}

TEST_CASE("threads that give each other blocks by their size") {
  start_without_clock();
  constexpr std::size_t threads = 4;
  std::vector<std::vector<void*>> blocks(threads);
  for (int round = 0; round < 5; ++round) {
    stress::on_threads(threads, [&](std::size_t me) {
      for (std::size_t i = 0; i < 2'000; ++i) {
        blocks[me].push_back(heapwise::allocate(16 + i % 200));
        std::memset(blocks[me].back(), static_cast<int>(me), 16 + i % 200);
      }
    });
    stress::on_threads(threads, [&](std::size_t me) {
      std::vector<void*>& theirs = blocks[(me + 1) % threads];
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        if (*static_cast<unsigned char*>(theirs[i]) != (me + 1) % threads) std::abort();
        heapwise::deallocate(theirs[i], 16 + i % 200);
      }
      theirs.clear();
    });
  }
  bring_everything_home();
  for (size_class class_index = 1; class_index <= class_of(216); ++class_index) {
    CHECK(the_bins[class_index].free_blocks() % class_table[class_index].blocks == 0);
  }
}

} // namespace
