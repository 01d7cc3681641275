// What a checked pool finds, with the message that it prints, and what it must not find.
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>

#include <doctest/doctest.h>

#include "child.hpp"
#include "policies.hpp"

namespace {

using contract::ending;
using contract::in_child;
using contract::pool_options;

constexpr std::size_t block_size = 61; // leaves slack between the block and its guard word

template <class Pool>
constexpr bool distrusts = std::is_same_v<typename Pool::checking, heapwise::checked>;

std::string text_of(const char* what, const void* block, bool size_known = true) {
  std::array<char, 200> text{};
  const int length =
      std::snprintf(text.data(), text.size(), "heapwise: pool: %s: block %p", what, block);
  return std::string(text.data(), static_cast<std::size_t>(length)) +
         (size_known ? " of " + std::to_string(block_size) + " bytes\n" : "\n");
}

std::string foreign_text(const void* address) {
  std::array<char, 200> text{};
  const int length = std::snprintf(
      text.data(), text.size(),
      "heapwise: pool: free of a pointer that is not a block: address %p, in a pool of blocks of "
      "%zu bytes\n",
      address, block_size);
  return std::string(text.data(), static_cast<std::size_t>(length));
}

/// The misuse must abort a checked pool with exactly that line; an foreign_checked one shows
/// nothing.
template <class Pool>
void check_ending(const ending& how, const std::string& line) {
  if (distrusts<Pool>) {
    CHECK(how.signal == SIGABRT);
    CHECK(how.error == line);
  } else {
    CHECK(how.exit_code == 0);
    CHECK(how.error.empty());
  }
}

void check_benign(const ending& how) {
  CHECK(how.exit_code == 0);
  CHECK(how.error.empty());
}

/// A pool with three blocks out. Large enough that lists have their largest shape: of three free
/// blocks none has a link then, unless the pool is checked.
template <class Pool>
struct scene {
  Pool blocks{pool_options{.block_size = block_size, .block_count = 5000}};
  std::byte* a = static_cast<std::byte*>(blocks.allocate());
  std::byte* b = static_cast<std::byte*>(blocks.allocate());
  std::byte* c = static_cast<std::byte*>(blocks.allocate());

  void free_all() {
    blocks.deallocate(a);
    blocks.deallocate(b);
    blocks.deallocate(c);
  }
};

#define POOLS                                                  \
  heapwise::pool<heapwise::unsynchronized, heapwise::checked>, \
      heapwise::pool<heapwise::unsynchronized, heapwise::foreign_checked>, SHARED_POOLS
#define SHARED_POOLS                                                  \
  heapwise::pool<heapwise::locked, heapwise::checked>,                \
      heapwise::pool<heapwise::locked, heapwise::foreign_checked>,    \
      heapwise::pool<heapwise::lock_free, heapwise::checked>,         \
      heapwise::pool<heapwise::lock_free, heapwise::foreign_checked>, \
      heapwise::pool<heapwise::thread_cached, heapwise::checked>,     \
      heapwise::pool<heapwise::thread_cached, heapwise::foreign_checked>

TEST_CASE_TEMPLATE("double free, immediately", Pool, POOLS) {
  scene<Pool> at;
  const ending how = in_child([&] {
    at.blocks.deallocate(at.a);
    at.blocks.deallocate(at.a);
  });
  check_ending<Pool>(how, text_of("double free", at.a));
  check_benign(in_child([&] { at.blocks.deallocate(at.a); }));
}

TEST_CASE_TEMPLATE("double free, after others", Pool, POOLS) {
  scene<Pool> at;
  const ending how = in_child([&] {
    at.free_all();
    at.blocks.deallocate(at.a);
  });
  check_ending<Pool>(how, text_of("double free", at.a));
  check_benign(in_child([&] {
    at.free_all();
    for (int i = 0; i < 3; ++i) at.blocks.deallocate(at.blocks.allocate());
  }));
}

TEST_CASE_TEMPLATE("double free, by two threads at once", Pool, SHARED_POOLS) {
  scene<Pool> at;
  const auto both_free = [&](void* first, void* second) {
    std::atomic<int> ready{0};
    const auto free_with_the_other = [&](void* block) {
      ++ready;
      while (ready != 2) { // spins: a wake-up would take longer than what is to overlap
      }
      at.blocks.deallocate(block);
    };
    std::thread other{[&] { free_with_the_other(first); }};
    free_with_the_other(second);
    other.join();
  };
  for (int round = 0; round < 50; ++round) {
    const ending how = in_child([&] { both_free(at.a, at.a); });
    check_ending<Pool>(how, text_of("double free", at.a));
  }
  check_benign(in_child([&] { both_free(at.a, at.b); }));
}

TEST_CASE_TEMPLATE("free of a pointer that is not a block", Pool, POOLS) {
  scene<Pool> at;
  scene<Pool> other;
  int on_stack = 0;
  // A block that was never handed out is not in use either. (thread_cached sets some aside.)
  std::byte* const never = at.a + 4000 * at.blocks.stride_bytes();
  for (void* const wrong : {static_cast<void*>(&on_stack), static_cast<void*>(at.a + 8),
                            static_cast<void*>(other.a), static_cast<void*>(never)}) {
    const ending how = in_child([&] { at.blocks.deallocate(wrong); });
    check_ending<Pool>(how, foreign_text(wrong));
  }
  check_benign(in_child([&] {
    at.blocks.deallocate(nullptr);
    if (at.blocks.contains(&on_stack)) std::abort();
  }));
}

TEST_CASE_TEMPLATE("write behind the end", Pool, POOLS) {
  scene<Pool> at;
  // The byte behind the block, the last one before the guard word, and the guard word's own. The
  // foreign_checked pool's stride is 64, so those of the guard word belong to the next block, also
  // ours.
  for (const std::size_t offset : {block_size, std::size_t{63}, std::size_t{64}, std::size_t{71}}) {
    const ending how = in_child([&] {
      at.a[offset] ^= std::byte{1};
      at.blocks.deallocate(at.a);
    });
    check_ending<Pool>(how, text_of("write behind the end of a block", at.a));
  }
  check_benign(in_child([&] {
    std::memset(at.a, 0xFF, block_size);
    at.blocks.deallocate(at.a);
  }));
}

TEST_CASE_TEMPLATE("write after free", Pool, POOLS) {
  scene<Pool> at;
  // What the pool does not use of a free block that was freed last.
  for (const std::size_t offset : {std::size_t{8}, std::size_t{33}, block_size - 1}) {
    const ending how = in_child([&] {
      at.blocks.deallocate(at.a);
      at.a[offset] ^= std::byte{0x10};
      static_cast<void>(at.blocks.allocate());
    });
    check_ending<Pool>(how, text_of("write to a free block", at.a));
  }
  check_benign(in_child([&] {
    at.blocks.deallocate(at.a);
    static_cast<void>(at.blocks.allocate());
  }));
}

TEST_CASE_TEMPLATE("corrupted link, whichever byte is hit", Pool, POOLS) {
  // A cache holds the block freed last without a link, so that of the second is the first one read.
  constexpr bool holds_top = std::is_same_v<typename Pool::policy, heapwise::thread_cached>;
  constexpr bool by_index =
      std::string_view{Pool::policy::name}.starts_with(heapwise::lock_free::name);
  scene<Pool> at;
  for (std::size_t byte = 0; byte < sizeof(void*); ++byte) {
    const ending how = in_child([&] {
      at.free_all();
      for (std::byte* const each : {at.a, at.b, at.c}) each[byte] ^= std::byte{0x44};
      static_cast<void>(at.blocks.allocate());
      if (holds_top) static_cast<void>(at.blocks.allocate());
    });
    const char* const what = "corrupted link in a free block";
    check_ending<Pool>(how, text_of(what, holds_top ? at.b : at.c, by_index));
  }
  check_benign(in_child([&] {
    at.free_all();
    for (int i = 0; i < 3; ++i) static_cast<void>(at.blocks.allocate());
  }));
}

TEST_CASE_TEMPLATE("data that looks like our marks is not a violation", Pool, POOLS) {
  if (!distrusts<Pool>) return;
  scene<Pool> at;
  std::array<std::byte, 80> live{};
  std::array<std::byte, 80> dead{};
  std::memcpy(live.data(), at.a, at.blocks.stride_bytes());
  at.blocks.deallocate(at.a);
  std::memcpy(dead.data(), at.a, at.blocks.stride_bytes());
  REQUIRE(at.blocks.allocate() == at.a);
  const std::byte* const live_guard = live.data() + 64;
  const std::byte* const dead_guard = dead.data() + 64;
  REQUIRE(std::memcmp(live_guard, dead_guard, 8) != 0);
  const auto fill = [&](const std::byte* pattern, std::size_t length) {
    for (std::size_t i = 0; i < block_size; ++i) at.a[i] = pattern[i % length];
  };
  const std::array marks{std::byte{0xDB}, std::byte{0xC5}};
  using pattern = std::pair<const std::byte*, std::size_t>;
  for (const pattern& each :
       {pattern{marks.data(), 1}, pattern{marks.data() + 1, 1}, pattern{live_guard, 8},
        pattern{dead_guard, 8}, pattern{dead.data(), block_size}}) {
    check_benign(in_child([&] {
      fill(each.first, each.second);
      at.blocks.deallocate(at.a);
      at.blocks.deallocate(at.blocks.allocate());
    }));
  }
}

} // namespace
