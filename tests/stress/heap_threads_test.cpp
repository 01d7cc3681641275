// The lives of threads: their first call, their last ones, and others that meddle at the end.
#include <pthread.h>

#include <array>
#include <atomic>
#include <barrier>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap_blocks.hpp"
#include "threads.hpp"

namespace {

using stress::signed_block;

TEST_CASE("short threads leave blocks behind, and their caches are used again") {
  heapwise_malloc_statistics before{};
  heapwise_malloc_statistics_get(&before);
  std::size_t wrong = 0;
  for (std::size_t round = 0; round < stress::scaled(250); ++round) {
    std::array<std::vector<signed_block>, 4> left;
    stress::on_threads(left.size(), [&](std::size_t me) {
      stress::random draw{round * 10 + me};
      for (int i = 0; i < 100; ++i) left[me].push_back(stress::make_block(draw));
    });
    stress::random draw{round};
    for (const auto& blocks : left) {
      for (const signed_block& each : blocks) wrong += stress::free_block(each, draw) ? 0 : 1;
    }
  }
  REQUIRE(wrong == 0);
  heapwise_malloc_statistics after{};
  heapwise_malloc_statistics_get(&after);
  CHECK(after.threads <= before.threads + 1); // this one may not have called yet
  CHECK(after.metadata_bytes <= before.metadata_bytes + (std::size_t{4} << 20));
}

/// One call, the first of a thread. Requires: `block` came from another thread.
void first_call(std::size_t which, void* block) {
  void* new_block = nullptr;
  switch (which) {
    case 0:
      new_block = heapwise_malloc(100);
      break;
    case 1:
      new_block = heapwise_calloc(3, 100);
      break;
    case 2:
      new_block = heapwise_realloc(nullptr, 100);
      break;
    case 3:
      new_block = heapwise_aligned_alloc(256, 100);
      break;
    case 4:
      new_block = heapwise_malloc(5'000'000);
      break;
    case 5:
      new_block = heapwise_realloc(block, 1'000);
      block = nullptr;
      break;
    case 6:
      heapwise_malloc_purge();
      break;
    case 7:
      CHECK(heapwise_malloc_usable_size(block) >= 64);
      break;
    case 8:
      heapwise_free_sized(block, 64);
      block = nullptr;
      break;
    default:
      break;
  }
  heapwise_free(block);
  heapwise_free(new_block);
}

TEST_CASE("every function may be a thread's first call, and its only one") {
  for (std::size_t round = 0; round < stress::scaled(50); ++round) {
    std::array<void*, 10> blocks{};
    for (void*& each : blocks) each = heapwise_malloc(64);
    stress::on_threads(blocks.size(), [&](std::size_t me) { first_call(me, blocks[me]); });
  }
}

struct late {
  stress::random draw;
  std::vector<signed_block> kept;
  std::size_t depth = 0;

  ~late() {
    for (const signed_block& each : kept) stress::free_block(each, draw);
    stress::churn_heap(draw, 20, 8);
  }
};

pthread_key_t late_key;

/// Sets itself again until the system stops asking: every round of destructors allocates and frees.
void in_destructor(void* value) {
  std::unique_ptr<late> old{static_cast<late*>(value)};
  auto next = std::make_unique<late>(stress::random{old->depth});
  next->depth = old->depth + 1;
  for (int i = 0; i < 10; ++i) next->kept.push_back(stress::make_block(next->draw));
  // The system gives up after four rounds, and a sanitizer leaves a thread in the fourth.
  if (next->depth < 3) pthread_setspecific(late_key, next.release());
}

TEST_CASE("threads allocate and free in all their destructors") {
  REQUIRE(pthread_key_create(&late_key, in_destructor) == 0);
  for (std::size_t round = 0; round < stress::scaled(100); ++round) {
    stress::on_threads(4, [&](std::size_t me) {
      // Made before the thread's first call of the heap in half of the cases, after it in the
      // others.
      thread_local late at_end{stress::random{1}, {}};
      if (me % 2 == 0) at_end.draw = stress::random{round};
      auto value = std::make_unique<late>(stress::random{me});
      for (int i = 0; i < 10; ++i) {
        value->kept.push_back(stress::make_block(value->draw));
        if (me % 2 == 1) at_end.kept.push_back(stress::make_block(at_end.draw));
      }
      REQUIRE(pthread_setspecific(late_key, value.release()) == 0);
    });
  }
  REQUIRE(pthread_key_delete(late_key) == 0);
}

TEST_CASE("a thousand threads, each started by the one before it and outlived by its block") {
  stress::random draw{3};
  std::size_t wrong = 0;
  signed_block block = stress::make_block(draw);
  for (std::size_t i = 0; i < stress::scaled(1'000); ++i) {
    std::thread{[&] {
      wrong += stress::free_block(block, draw) ? 0 : 1;
      block = stress::make_block(draw);
    }}.join();
  }
  wrong += stress::free_block(block, draw) ? 0 : 1;
  REQUIRE(wrong == 0);
}

TEST_CASE("threads end while others free their blocks, half before them and half after") {
  std::atomic<std::size_t> wrong{0};
  for (std::size_t round = 0; round < stress::scaled(150); ++round) {
    constexpr std::size_t pairs = 3;
    std::array<std::vector<signed_block>, pairs> blocks;
    std::array<std::atomic<bool>, pairs> ready{};
    stress::on_threads(pairs * 2, [&](std::size_t me) {
      stress::random draw{round * 10 + me};
      const std::size_t pair = me / 2;
      if (me % 2 == 0) {
        for (int i = 0; i < 150; ++i) blocks[pair].push_back(stress::make_block(draw));
        ready[pair].store(true, std::memory_order_release);
        return; // its cache goes while the other frees into its pages
      }
      // Half of the frees come from threads that have a cache by then, half from fresh ones.
      if (pair % 2 == 0 && stress::churn_heap(draw, 50) != 0) ++wrong;
      while (!ready[pair].load(std::memory_order_acquire)) std::this_thread::yield();
      for (const signed_block& each : blocks[pair]) {
        if (!stress::free_block(each, draw)) ++wrong;
      }
    });
    REQUIRE(wrong == 0);
  }
}

TEST_CASE("pages are given back while all allocate") {
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> busy{3};
  stress::on_threads(4, [&](std::size_t me) {
    stress::random draw{me};
    if (me == 0) {
      while (busy > 0) {
        heapwise_malloc_purge();
        heapwise_malloc_statistics now{};
        heapwise_malloc_statistics_get(&now);
      }
      return;
    }
    if (stress::churn_heap(draw, stress::scaled(20'000), 300) != 0) ++wrong;
    --busy;
  });
  REQUIRE(wrong == 0);
}

} // namespace
