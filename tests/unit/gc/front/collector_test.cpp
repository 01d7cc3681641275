#include <cerrno>
#include <cstdint>
#include <cstring>
#include <vector>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

struct pair {
  pair* left;
  pair* right;
};

void* volatile the_static_root; // else the compiler sees that nobody reads it

bool all_zero(const void* block, std::size_t bytes) {
  const auto* const begin = static_cast<const unsigned char*>(block);
  for (std::size_t each = 0; each < bytes; ++each) {
    if (begin[each] != 0) return false;
  }
  return true;
}

constexpr std::size_t sizes[] = {
    0,    1,    15,   16,     17,     100,    128,    129,    1000,   4080,   4095,   4096,   4097,
    8191, 8192, 8193, 10'000, 16'384, 20'000, 32'767, 32'768, 32'769, 65'536, 65'537, 1 << 20};

} // namespace

// The first case: others leave words on the stack that keep blocks for a while.
TEST_CASE("live bytes are what is reachable, to the byte") {
  heapwise_gc_init(nullptr);
  heapwise_gc_collect();
  const std::size_t before = statistics().live_bytes;
  constexpr std::size_t count = 10'000;
  elsewhere([&] {
    void** newest = nullptr;
    for (std::size_t each = 0; each < count; ++each) {
      auto** const next = static_cast<void**>(heapwise_gc_malloc(48));
      next[2] = newest;
      newest = next;
    }
    the_static_root = newest;
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  const std::size_t after = statistics().live_bytes;
  CHECK(after - before == count * 48);
  the_static_root = nullptr;
}

TEST_CASE("a block that a static variable leads to survives, one that nothing leads to does not") {
  heapwise_gc_init(nullptr);
  hidden kept;
  hidden behind;
  hidden lost;
  elsewhere([&] {
    auto* const first = static_cast<pair*>(heapwise_gc_malloc(sizeof(pair)));
    first->right = static_cast<pair*>(heapwise_gc_malloc(sizeof(pair)));
    the_static_root = first;
    kept = hidden{first};
    behind = hidden{first->right};
    lost = hidden{heapwise_gc_malloc(sizeof(pair))};
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(survived(kept));
  CHECK(survived(behind));
  CHECK_FALSE(survived(lost));
  the_static_root = nullptr;
  heapwise_gc_collect();
  CHECK_FALSE(survived(kept));
  CHECK_FALSE(survived(behind));
}

TEST_CASE("a cycle that nothing leads to is freed") {
  heapwise_gc_init(nullptr);
  hidden one;
  elsewhere([&] {
    auto* const first = static_cast<pair*>(heapwise_gc_malloc(sizeof(pair)));
    first->left = static_cast<pair*>(heapwise_gc_malloc(sizeof(pair)));
    first->left->left = first;
    one = hidden{first};
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK_FALSE(survived(one));
}

TEST_CASE("blocks of every size are zero, aligned, apart, and survive by a word in another") {
  heapwise_gc_init(nullptr);
  auto** const table = static_cast<void**>(heapwise_gc_malloc(sizeof sizes / sizeof *sizes * 8));
  for (int round = 0; round < 3; ++round) {
    std::size_t number = 0;
    for (const std::size_t size : sizes) {
      CAPTURE(size);
      void* const block = heapwise_gc_malloc(size);
      REQUIRE(block != nullptr);
      CHECK(reinterpret_cast<std::uintptr_t>(block) % 16 == 0);
      CHECK(all_zero(block, size));
      CHECK(heapwise_gc_usable_size(block) >= size);
      CHECK(heapwise_gc_base(static_cast<char*>(block) + size / 2) == block);
      std::memset(block, static_cast<int>(number + 1), size);
      table[number++] = block;
    }
    heapwise_gc_collect();
    for (number = 0; number < sizeof sizes / sizeof *sizes; ++number) {
      CAPTURE(sizes[number]);
      const auto* const bytes = static_cast<const unsigned char*>(table[number]);
      bool intact = true;
      for (std::size_t at = 0; at < sizes[number]; ++at) intact = intact && bytes[at] == number + 1;
      CHECK(intact);
    }
    // From here on they are garbage, and their memory serves the next round.
    std::memset(table, 0, sizeof sizes / sizeof *sizes * 8);
    heapwise_gc_collect();
  }
}

TEST_CASE("an address inside of a block holds it from the stack, and not from another block") {
  heapwise_gc_init(nullptr);
  for (const std::size_t size : {64UL, 3000UL, 20'000UL, 300'000UL}) {
    CAPTURE(size);
    hidden in_block;
    hidden on_stack;
    auto* const holder = static_cast<char**>(heapwise_gc_malloc(64));
    char* volatile inside = nullptr;
    elsewhere([&] {
      auto* const one = static_cast<char*>(heapwise_gc_malloc(size));
      auto* const other = static_cast<char*>(heapwise_gc_malloc(size));
      holder[1] = one + 24;
      inside = other + size - 1;
      in_block = hidden{one};
      on_stack = hidden{other};
      for (int each = 0; each < 100; ++each) static_cast<void>(heapwise_gc_malloc(size));
    });
    heapwise_gc_collect();
    CHECK_FALSE(survived(in_block));
    CHECK(survived(on_stack));
    CHECK(inside != nullptr);
    CHECK(holder[1] != nullptr);
  }
}

TEST_CASE("an atomic block is kept and not looked through") {
  heapwise_gc_init(nullptr);
  hidden atomic;
  hidden behind;
  for (const std::size_t size : {16UL, 500UL, 100'000UL}) {
    elsewhere([&] {
      auto* const first = static_cast<void**>(heapwise_gc_malloc_atomic(size));
      *first = heapwise_gc_malloc(64);
      atomic = hidden{first};
      behind = hidden{*first};
      the_static_root = first;
      for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(64));
    });
    heapwise_gc_collect();
    CHECK(survived(atomic));
    CHECK_FALSE(survived(behind));
  }
  the_static_root = nullptr;
}

TEST_CASE("memory that was added is a root until it is removed") {
  heapwise_gc_init(nullptr);
  std::vector<void*> outside(10); // of malloc, which is not looked through
  hidden block;
  elsewhere([&] {
    outside[7] = heapwise_gc_malloc(48);
    block = hidden{outside[7]};
    for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(48));
  });
  REQUIRE(heapwise_gc_add_roots(outside.data(), outside.data() + outside.size()) == 0);
  heapwise_gc_collect();
  CHECK(survived(block));
  heapwise_gc_remove_roots(outside.data(), outside.data() + outside.size());
  heapwise_gc_collect();
  CHECK_FALSE(survived(block));
}

TEST_CASE("a freed block is handed out again, zeroed, without a collection") {
  heapwise_gc_init(nullptr);
  heapwise_gc_disable();
  for (const std::size_t size : {16UL, 200UL, 5000UL, 70'000UL}) {
    CAPTURE(size);
    const std::size_t before = statistics().freed_bytes;
    void* const first = heapwise_gc_malloc(size);
    std::memset(first, 7, size);
    heapwise_gc_free(first);
    CHECK(statistics().freed_bytes - before >= size);
    bool again = false;
    for (int tries = 0; tries < 5000 && !again; ++tries) {
      void* const next = heapwise_gc_malloc(size);
      CHECK(all_zero(next, size));
      again = next == first;
    }
    CHECK(again);
  }
  heapwise_gc_free(nullptr);
  heapwise_gc_enable();
}

TEST_CASE("realloc keeps the smaller number of bytes, and zeroes what is new") {
  heapwise_gc_init(nullptr);
  auto* block = static_cast<unsigned char*>(heapwise_gc_realloc(nullptr, 10));
  std::size_t old = 10;
  std::memset(block, 1, old);
  for (const std::size_t size :
       {12UL, 200UL, 150UL, 40UL, 33'000UL, 200'000UL, 34'000UL, 5UL, 16UL}) {
    CAPTURE(size);
    block = static_cast<unsigned char*>(heapwise_gc_realloc(block, size));
    REQUIRE(block != nullptr);
    for (std::size_t at = 0; at < size; ++at) {
      REQUIRE(block[at] == (at < old ? 1 : 0));
    }
    std::memset(block, 1, size);
    old = size;
  }
}

TEST_CASE("sizes that are too large are refused, and then nothing is lost") {
  heapwise_gc_init(nullptr);
  for (const std::size_t size : {SIZE_MAX, SIZE_MAX - 15, SIZE_MAX / 2, std::size_t{1} << 46}) {
    CAPTURE(size);
    errno = 0;
    CHECK(heapwise_gc_malloc(size) == nullptr);
    CHECK(errno == ENOMEM);
    CHECK(heapwise_gc_malloc_atomic(size) == nullptr);
  }
  CHECK(heapwise_gc_malloc(100) != nullptr);
}

TEST_CASE("the heap of a program that keeps little stays small") {
  heapwise_gc_init(nullptr);
  constexpr std::size_t mib = std::size_t{1} << 20;
  const std::size_t before = statistics().collections;
  for (std::size_t bytes = 0; bytes < 300 * mib; bytes += 1000) {
    static_cast<void>(heapwise_gc_malloc(1000));
  }
  for (std::size_t bytes = 0; bytes < 300 * mib; bytes += 100'000) {
    static_cast<void>(heapwise_gc_malloc(100'000));
  }
  const heapwise_gc_statistics told = statistics();
  CHECK(told.collections - before >= 20);
  CHECK(told.heap_bytes < 40 * mib);
  CHECK(told.allocated_bytes >= 600 * mib);
  CHECK(told.freed_bytes >= 500 * mib);
  CHECK(told.longest_pause_ns <= told.total_pause_ns);
  CHECK(told.mark_ns <= told.total_pause_ns);
}

TEST_CASE("free blocks between live ones do not make the heap grow without end") {
  heapwise_gc_init(nullptr);
  constexpr std::size_t count = 100'000;
  constexpr std::size_t turns = 30;
  std::size_t held_bytes = 0;
  elsewhere([&] {
    auto** const table = static_cast<void**>(heapwise_gc_malloc(count * sizeof(void*)));
    std::uint64_t state = 1; // a random place, and a random size: spans never become empty
    const auto random = [&](std::size_t below) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      return static_cast<std::size_t>(state >> 33) % below;
    };
    for (std::size_t each = 0; each < count; ++each) {
      table[each] = heapwise_gc_malloc_atomic(16 + random(256));
    }
    for (std::size_t each = 0; each < count * turns; ++each) {
      table[random(count)] = heapwise_gc_malloc_atomic(16 + random(256));
    }
    held_bytes = statistics().heap_bytes;
    heapwise_gc_collect();
    // Live, and the least budget. It was twice what is live before collections were counted by what
    // was handed out since the last one.
    const std::size_t live_bytes = statistics().live_bytes;
    CHECK(live_bytes > count * 100);
    CHECK(held_bytes < live_bytes + live_bytes / 2 + (std::size_t{8} << 20));
    heapwise_gc_free(table);
  });
}

TEST_CASE("between disable and enable only a call of collect collects") {
  heapwise_gc_init(nullptr);
  heapwise_gc_disable();
  heapwise_gc_disable();
  heapwise_gc_enable();
  const std::size_t before = statistics().collections;
  for (int each = 0; each < 30'000; ++each) static_cast<void>(heapwise_gc_malloc(1000));
  CHECK(statistics().collections == before);
  heapwise_gc_collect();
  CHECK(statistics().collections == before + 1);
  heapwise_gc_enable();
  for (int each = 0; each < 300'000; ++each) static_cast<void>(heapwise_gc_malloc(1000));
  CHECK(statistics().collections > before + 1);
}

TEST_CASE("an address one past the end holds a block from the stack, and not from another block") {
  heapwise_gc_init(nullptr);
  // Some fill their span to the last byte, some are the last before unused memory.
  for (const std::size_t size :
       {16UL, 64UL, 3072UL, 8192UL, 20'000UL, 32'768UL, 65'536UL, 300'000UL, 1'048'576UL}) {
    CAPTURE(size);
    hidden in_block;
    hidden on_stack;
    hidden behind;
    auto* const holder = static_cast<char**>(heapwise_gc_malloc(64));
    char* volatile past = nullptr;
    elsewhere([&] {
      auto* const one = static_cast<char*>(heapwise_gc_malloc(size));
      static_cast<void>(heapwise_gc_malloc(size));
      auto* const other = static_cast<char*>(heapwise_gc_malloc(size));
      *reinterpret_cast<void**>(other) = heapwise_gc_malloc(48);
      behind = hidden{*reinterpret_cast<void**>(other)};
      holder[1] = one + heapwise_gc_usable_size(one);
      past = other + heapwise_gc_usable_size(other);
      in_block = hidden{one};
      on_stack = hidden{other};
      for (int each = 0; each < 500; ++each) static_cast<void>(heapwise_gc_malloc(48));
      for (int each = 0; each < 600; ++each) static_cast<void>(heapwise_gc_malloc(size));
    });
    heapwise_gc_collect();
    CHECK_FALSE(survived(in_block));
    CHECK(survived(on_stack));
    CHECK(survived(behind));
    CHECK(past != nullptr);
  }
}

TEST_CASE("a loop that goes from the end to the begin keeps its block") {
  heapwise_gc_init(nullptr);
  std::uint64_t* volatile end = nullptr;
  elsewhere([&] {
    auto* const numbers = static_cast<std::uint64_t*>(heapwise_gc_malloc(64));
    for (std::uint64_t each = 0; each < 8; ++each) numbers[each] = each;
    end = numbers + 8;
    gc_test::leave_windows();
    for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(64));
  });
  for (std::uint64_t each = 8; each-- > 0;) {
    if (each % 4 == 3) heapwise_gc_collect();
    for (int other = 0; other < 200; ++other) {
      *static_cast<std::uint64_t*>(heapwise_gc_malloc(64)) = 99;
    }
    end = end - 1;
    REQUIRE(*end == each);
  }
}
