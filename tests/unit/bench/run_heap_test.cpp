#include "drain/run_heap.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace heapwise::bench;

TEST_CASE("a heap of one run has no other order") {
  run_heap heap;
  CHECK(heap.empty());
  heap.add({3, 9, 5});
  CHECK(heap.first().slot == 3);
  CHECK(heap.next_order() == UINT64_MAX);
  heap.remove_first();
  CHECK(heap.empty());
}

TEST_CASE("calls of several rings come out in their order") {
  std::mt19937 chosen{1};
  for (unsigned rings = 1; rings != 40; ++rings) {
    std::vector<std::vector<std::uint64_t>> left(rings);
    std::vector<std::uint64_t> every;
    for (unsigned call = 0; call != 500; ++call) {
      every.push_back(2 * call);
      left[chosen() % rings].push_back(2 * call);
    }
    run_heap heap;
    for (unsigned slot = 0; slot != rings; ++slot) {
      std::ranges::reverse(left[slot]);
      if (!left[slot].empty()) heap.add({slot, 0, left[slot].back()});
    }
    std::vector<std::uint64_t> taken;
    while (!heap.empty()) {
      ring_run& first = heap.first();
      std::vector<std::uint64_t>& its = left[first.slot];
      CHECK(its.back() == first.order);
      // As the drain does: one call, and as many as come before those of all others.
      do {
        taken.push_back(its.back());
        its.pop_back();
      } while (!its.empty() && its.back() <= heap.next_order());
      if (its.empty()) {
        heap.remove_first();
      } else {
        first.order = its.back();
        heap.sink_first();
      }
    }
    CHECK(taken == every);
  }
}
