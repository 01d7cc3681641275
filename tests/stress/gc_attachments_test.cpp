// Weak references that are read, finalizers that are set and called, and blocks that are kept,
// while other threads collect.
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../unit/gc/surroundings.hpp"

namespace {

constexpr std::uint64_t filling = 0x5EED'5EED'5EED'5EED;

struct node {
  std::uint64_t words[8];
};

node* make() {
  auto* const block = static_cast<node*>(heapwise_gc_malloc(sizeof(node)));
  for (std::uint64_t& each : block->words) each = filling;
  return block;
}

bool is_whole(const node* block) {
  for (const std::uint64_t each : block->words) {
    if (each != filling) return false;
  }
  return true;
}

void* volatile always_live;
std::atomic<std::uint64_t> finalized{0};
std::atomic<bool> damaged{false};

void note(void* block, void*) {
  if (!is_whole(static_cast<node*>(block))) damaged = true;
  finalized.fetch_add(1, std::memory_order_relaxed);
}

/// Returns: whether every block that a cell referred to was whole.
bool churn(int rounds) {
  heapwise_gc_weak cells[16]{};
  bool whole = true;
  for (int round = 0; round < rounds; ++round) {
    heapwise_gc_weak& cell = cells[round % 16];
    if (const auto* const target = static_cast<node*>(heapwise_gc_get_weak(&cell))) {
      whole = whole && is_whole(target);
    }
    node* const block = make();
    if (round % 3 == 0) whole = whole && heapwise_gc_set_weak(&cell, block) == 0;
    if (round % 5 == 0) whole = whole && heapwise_gc_set_finalizer(block, note, nullptr) == 0;
    if (round % 7 == 0) {
      whole = whole && heapwise_gc_keep(block) == 0;
      heapwise_gc_stop_keeping(block);
    }
    if (round % 11 == 0) heapwise_gc_free(block);
    if (round % 1000 == 0) heapwise_gc_run_finalizers();
  }
  for (heapwise_gc_weak& each : cells) whole = whole && heapwise_gc_set_weak(&each, nullptr) == 0;
  return whole;
}

/// Effects: three threads use what can be attached to blocks; `beside` is called meanwhile.
template <class Beside>
void check_three_threads(int rounds, Beside beside) {
  finalized = 0;
  std::atomic<int> running{3};
  std::atomic<int> whole{0};
  std::vector<std::thread> threads;
  for (int each = 0; each < 3; ++each) {
    threads.emplace_back([&] {
      heapwise_gc_register_thread();
      if (churn(rounds)) ++whole;
      --running;
      heapwise_gc_unregister_thread();
    });
  }
  while (running > 0) beside();
  for (std::thread& each : threads) each.join();
  heapwise_gc_collect();
  heapwise_gc_run_finalizers();
  CHECK(whole == 3);
  CHECK_FALSE(damaged);
  // Each fifth block, less those that were freed; a few are kept by words by chance.
  CHECK(finalized >= static_cast<std::uint64_t>(3 * (rounds / 5 * 9 / 10)));
  CHECK(finalized <= static_cast<std::uint64_t>(3 * (rounds / 5)));
}

} // namespace

TEST_CASE("weak references and finalizers hold while threads collect" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  check_three_threads(20'000, heapwise_gc_collect);
}

TEST_CASE("and while copies of the process mark beside them" * doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_options options{};
  options.concurrent_bytes = 1;
  heapwise_gc_init(&options);
  always_live = heapwise_gc_malloc(16); // an empty heap is not worth a copy
  heapwise_gc_collect();
  // A copy is of no use if a thread meanwhile read a weak reference to a block that is lost in the
  // copy. On a busy machine most copies are.
  constexpr int most_tries = 20;
  bool of_use = false;
  for (int tries = 0; !of_use && tries < most_tries; ++tries) {
    check_three_threads(200'000, [] { // garbage, so that there is something to collect
      for (int each = 0; each < 100; ++each) static_cast<void>(heapwise_gc_malloc(4096));
    });
    of_use = HEAPWISE_EMULATED || gc_test::statistics().concurrent_collections > 0;
  }
  CHECK(of_use);
}
