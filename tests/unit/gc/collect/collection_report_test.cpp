// What the program is told of collections.
#include <atomic>
#include <cstddef>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::statistics;

namespace {

struct told {
  std::atomic<std::size_t> calls{0};
  std::atomic<std::size_t> in_copies{0};
  heapwise_gc_collection last{};
};

void write_down(const heapwise_gc_collection* last, void* argument) {
  auto& into = *static_cast<told*>(argument);
  ++into.calls;
  into.in_copies += last->in_copy != 0 ? 1U : 0U;
  into.last = *last;
  static_cast<void>(heapwise_gc_malloc(16)); // no lock is held
}

void* volatile always_live;

} // namespace

TEST_CASE(
    "each collection that is asked for is told, with its numbers, until the report is taken away") {
  heapwise_gc_init(nullptr);
  told seen;
  heapwise_gc_on_collection(write_down, &seen);
  elsewhere([] { always_live = heapwise_gc_malloc(1 << 20); });
  heapwise_gc_collect();
  heapwise_gc_collect();
  CHECK(seen.calls == 2);
  CHECK(seen.last.number == statistics().collections);
  CHECK(seen.last.live_bytes == statistics().live_bytes);
  CHECK(seen.last.heap_bytes >= std::size_t{1} << 20);
  CHECK(seen.last.pause_ns > 0);
  CHECK(seen.last.pause_ns <= statistics().longest_pause_ns);
  CHECK(seen.last.in_copy == 0);
  heapwise_gc_on_collection(nullptr, nullptr);
  heapwise_gc_collect();
  CHECK(seen.calls == 2);
}

TEST_CASE("collections of allocations are told, also those that marked in a copy") {
  heapwise_gc_options options{};
  options.concurrent_bytes = 1;
  heapwise_gc_init(&options);
  told seen;
  heapwise_gc_on_collection(write_down, &seen);
  elsewhere([] { always_live = heapwise_gc_malloc(16); });
  heapwise_gc_collect();
  for (int each = 0; each < 100'000; ++each) static_cast<void>(heapwise_gc_malloc(1024));
  heapwise_gc_on_collection(nullptr, nullptr);
  CHECK(seen.calls > 1);
  CHECK(seen.calls == statistics().collections);
  CHECK(seen.in_copies == statistics().concurrent_collections);
}
