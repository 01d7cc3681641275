// Threads that are registered by their first call (option register_threads).
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::statistics;

namespace {

struct node {
  node* next;
  std::uintptr_t number;
};

constexpr std::uintptr_t nodes = 1000;

void start() {
  heapwise_gc_options options{};
  options.register_threads = 1;
  REQUIRE(heapwise_gc_init(&options) == 0);
}

/// Returns: a list that only the caller knows.
node* make_list() {
  node* list = nullptr;
  for (std::uintptr_t each = 0; each < nodes; ++each) {
    auto* const block = static_cast<node*>(heapwise_gc_malloc(sizeof(node)));
    *block = {list, each};
    list = block;
  }
  return list;
}

} // namespace

TEST_CASE("a thread that never registered keeps its blocks while another one collects" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  start();
  std::atomic<int> step{0};
  std::uintptr_t nodes_seen = 0;
  std::thread other{[&] {
    const node* volatile list = make_list();
    step = 1;
    step.notify_one();
    step.wait(1);
    for (const node* each = list; each != nullptr; each = each->next) ++nodes_seen;
  }};
  step.wait(0);
  CHECK(statistics().threads == 2);
  heapwise_gc_collect();
  for (int each = 0; each < 100'000; ++each) static_cast<void>(heapwise_gc_malloc(sizeof(node)));
  heapwise_gc_collect();
  step = 2;
  step.notify_one();
  other.join();
  CHECK(nodes_seen == nodes);
  CHECK(statistics().threads == 1); // it has ended
}

TEST_CASE("the first call of a thread may free a block, or read a weak reference") {
  start();
  static heapwise_gc_weak cell;
  auto** volatile const kept = static_cast<void**>(heapwise_gc_malloc(64));
  *kept = heapwise_gc_malloc(64);
  REQUIRE(heapwise_gc_set_weak(&cell, *kept) == 0);
  bool is_there = false;
  std::thread{[&] { is_there = heapwise_gc_get_weak(&cell) != nullptr; }}.join();
  CHECK(is_there);
  std::size_t threads = 0;
  std::thread{[&] {
    heapwise_gc_free(*kept);
    threads = statistics().threads;
  }}.join();
  CHECK(threads == 2);
  *kept = nullptr;
  CHECK(heapwise_gc_get_weak(&cell) == nullptr);
}
