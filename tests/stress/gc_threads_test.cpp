// Threads that build, link, verify and drop structures while others do the same and collections
// run.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../unit/gc/surroundings.hpp"

namespace {

/// A node that knows what it must hold; of several sizes, so that kinds meet.
struct node {
  node* next;
  node* other;
  std::uint64_t number;
  std::uint64_t words; // behind it, each `number`
};

node* make(std::uint64_t number, std::uint64_t words) {
  auto* const block =
      static_cast<node*>(heapwise_gc_malloc(sizeof(node) + words * sizeof(std::uint64_t)));
  auto* const tail = reinterpret_cast<std::uint64_t*>(block + 1);
  bool zero = block->next == nullptr && block->other == nullptr && block->number == 0;
  for (std::uint64_t each = 0; each < words; ++each) {
    zero = zero && tail[each] == 0;
    tail[each] = number;
  }
  if (!zero) return nullptr;
  block->number = number;
  block->words = words;
  return block;
}

bool holds(const node* block, std::uint64_t number) {
  const auto* const tail = reinterpret_cast<const std::uint64_t*>(block + 1);
  for (std::uint64_t each = 0; each < block->words; ++each) {
    if (tail[each] != number) return false;
  }
  return block->number == number;
}

/// A list whose nodes also lead to pairs of pointer-free bytes.
bool churn(std::uint64_t seed, int rounds) {
  std::mt19937_64 random{seed};
  node* kept[4]{};
  for (int round = 0; round < rounds; ++round) {
    node*& list = kept[random() % 4];
    for (node* each = list; each != nullptr; each = each->next) {
      if (!holds(each, seed) || !holds(each->other, seed + 1)) return false;
    }
    list = nullptr;
    for (int length = 0; length < 40; ++length) {
      node* const next = make(seed, random() % 40);
      node* const other = make(seed + 1, random() % 300 == 0 ? 9000 : random() % 4);
      if (next == nullptr || other == nullptr) return false;
      next->other = other;
      next->next = list;
      list = next;
      auto* const bytes =
          static_cast<unsigned char*>(heapwise_gc_malloc_atomic(random() % 200 + 1));
      bytes[0] = 1;
      if (length % 8 == 0) heapwise_gc_free(bytes);
    }
    std::this_thread::yield();
  }
  return true;
}

void run(std::size_t threads, int rounds, std::size_t markers) {
  heapwise_gc_options options{};
  options.markers = markers;
  heapwise_gc_init(&options);
  std::atomic<int> intact{0};
  std::atomic<std::size_t> working{threads};
  std::vector<std::thread> all;
  const std::size_t enough = gc_test::statistics().collections + 300;
  for (std::size_t each = 0; each < threads; ++each) {
    all.emplace_back([&, each] {
      heapwise_gc_register_thread();
      bool whole = true;
      do {
        whole = whole && churn(1000 * each, rounds);
      } while (gc_test::statistics().collections < enough);
      intact += whole ? 1 : 0;
      heapwise_gc_unregister_thread();
      --working;
    });
  }
  while (working > 0) {
    heapwise_gc_collect();
    std::this_thread::sleep_for(std::chrono::microseconds{200}); // others need time to work
  }
  for (std::thread& each : all) each.join();
  CHECK(intact == static_cast<int>(threads));
}

} // namespace

TEST_CASE("structures of four threads stay whole while a fifth collects all the time" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  run(4, 400, 1);
}

TEST_CASE("and while copies of the process mark beside them" * doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_options options{};
  options.concurrent_bytes = 1;
  heapwise_gc_init(&options);
  heapwise_gc_collect();
  constexpr std::size_t enough = 60; // collections in copies
  constexpr int rounds = 400;
  std::atomic<int> intact{0};
  std::vector<std::thread> all;
  for (std::uint64_t each = 0; each < 4; ++each) {
    all.emplace_back([&, each] {
      heapwise_gc_register_thread();
      bool whole = true;
      heapwise_gc_statistics told{};
      do { // where the system makes no copies, as many others will do
        whole = whole && churn(1000 * each, rounds);
        told = gc_test::statistics();
      } while (told.concurrent_collections < enough && told.collections < 10 * enough);
      intact += whole ? 1 : 0;
      heapwise_gc_unregister_thread();
    });
  }
  for (std::thread& each : all) each.join();
  CHECK(intact == 4);
}

TEST_CASE("and with several markers" * doctest::skip(HEAPWISE_SKIP_STOPS)) { run(3, 400, 3); }

TEST_CASE(
    "threads come, allocate and go while collections run, and some make threads of their own" *
    doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  std::atomic<int> intact{0};
  std::vector<std::thread> makers;
  for (std::uint64_t maker = 0; maker < 3; ++maker) {
    makers.emplace_back([&, maker] {
      heapwise_gc_register_thread();
      node* const mine = make(maker, 10);
      for (std::uint64_t each = 0; each < 25; ++each) {
        std::thread{[&] {
          heapwise_gc_register_thread();
          node* const theirs = make(100 + each, 20);
          mine->other = theirs; // lives on by the maker's block
          intact += churn(maker * 100 + each, 4) ? 1 : 0;
          if (each % 2 == 0) heapwise_gc_unregister_thread(); // else it just ends
        }}.join();
        heapwise_gc_collect();
        intact += holds(mine, maker) && holds(mine->other, 100 + each) ? 1 : 0;
      }
      heapwise_gc_unregister_thread();
    });
  }
  for (std::thread& each : makers) each.join();
  CHECK(intact == 3 * 25 * 2);
}

TEST_CASE("several threads mark a graph of shared, deep and wide parts alike") {
  heapwise_gc_options options{};
  options.markers = 4;
  heapwise_gc_init(&options);
  constexpr std::size_t count = 60'000;
  auto** const table = static_cast<node**>(heapwise_gc_malloc(count * sizeof(node*)));
  std::mt19937_64 random{7};
  for (std::size_t each = 0; each < count; ++each) {
    table[each] = make(each, random() % 3);
    table[each]->next = each == 0 ? nullptr : table[random() % each];
    table[each]->other = each == 0 ? nullptr : table[each - 1];
  }
  node* const deepest = table[count - 1];
  for (int round = 0; round < 20; ++round) {
    heapwise_gc_collect();
    for (int each = 0; each < 1000; ++each) static_cast<void>(make(9, 3));
    if (round == 10) {
      for (std::size_t each = 0; each < count; ++each) table[each] = nullptr;
    }
    std::size_t number = count - 1;
    bool whole = true;
    for (const node* each = deepest; each != nullptr; each = each->other) {
      whole = whole && holds(each, number--);
    }
    REQUIRE(whole);
  }
}
