// What a copy of the process finds out, and what of it the program takes over.
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

#include "gc/copies.hpp"

using namespace gc_test;

namespace {

node* volatile the_other_list;
heapwise_gc_weak the_cell;
heapwise_gc_weak the_long_cell;
hidden the_block;
int finalized = 0;

void count_it(void* /*block*/, void* /*argument*/) { ++finalized; }

bool refers(const heapwise_gc_weak& cell) {
  bool does = false;
  elsewhere([&] { does = heapwise_gc_get_weak(&cell) != nullptr; });
  return does;
}

} // namespace

TEST_CASE("reachable blocks stay, others are used again, collection after collection" *
          doctest::skip(without_copies)) {
  start();
  constexpr std::uintptr_t nodes = 100'000;
  elsewhere([] {
    for (std::uintptr_t each = 0; each < nodes; ++each) the_list = made(the_list, each);
    for (int round = 0; round < 100; ++round) { // another list each time; its nodes lie everywhere
      node* copied = nullptr;
      for (node* each = the_list; each != nullptr; each = each->next) {
        copied = made(copied, nodes - 1 - each->number);
      }
      the_list = copied;
    }
  });
  std::uintptr_t expected = nodes;
  for (node* each = the_list; each != nullptr; each = each->next) {
    REQUIRE(each->number == --expected);
  }
  CHECK(expected == 0);
  const heapwise_gc_statistics told = statistics();
  CHECK(told.concurrent_collections > 0);
  CHECK(told.concurrent_mark_ns > 0);
  CHECK(told.lost_copies == 0);
  CHECK(told.peak_heap_bytes < 20 * nodes * sizeof(node)); // of 101 lists
}

TEST_CASE("without the option no copy is made") {
  start(0);
  elsewhere([] {
    for (int each = 0; each < 10'000; ++each) make_garbage();
  });
  CHECK(statistics().collections > 1);
  CHECK(statistics().concurrent_collections == 0);
}

TEST_CASE("the first collection marks in a copy too, when nobody knows how much is live" *
          doctest::skip(without_copies)) {
  heapwise_gc_options options{};
  options.concurrent_bytes = 1;
  REQUIRE(heapwise_gc_init(&options) == 0);
  REQUIRE(statistics().collections == 0);
  REQUIRE(begin_copy());
  CHECK(statistics().collections == 0); // that one has begun, and none was before
  REQUIRE(take_over());
}

TEST_CASE("a block that moves to another place while the copy marks stays" *
          doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    the_list = made(made(nullptr, 7), 1);
    the_other_list = made(nullptr, 2);
    the_block = hidden{the_list->next};
    leave_windows();
  });
  REQUIRE(begin_copy());
  elsewhere([] {
    the_other_list->next = the_list->next;
    the_list->next = nullptr;
  });
  REQUIRE(take_over());
  CHECK(survived(the_block));
  elsewhere([] { CHECK(the_other_list->next->number == 7); });
  the_other_list = nullptr;
  heapwise_gc_collect();
  CHECK_FALSE(survived(the_block));
}

TEST_CASE("spans that stay full, lose blocks or become free have the marks of the copy" *
          doctest::skip(without_copies)) {
  start();
  constexpr std::size_t sample = 1000; // every how many nodes
  static std::vector<hidden> kept;
  static std::vector<hidden> dropped;
  elsewhere([] {
    make_long_list();
    leave_windows();
  });
  for (int round = 0; round < 3; ++round) {
    REQUIRE(begin_copy());
    REQUIRE(take_over());
  }
  elsewhere([] {
    for (node* each = the_list; each != nullptr && each->next != nullptr; each = each->next) {
      if (each->number % sample == 1) {
        kept.emplace_back(each);
        dropped.emplace_back(each->next);
      }
      each->next = each->next->next;
    }
  });
  REQUIRE(kept.size() == nodes_of_long_list / sample);
  for (const hidden each : dropped) REQUIRE(survived(each));
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  for (const hidden each : kept) REQUIRE(survived(each));
  for (const hidden each : dropped) REQUIRE_FALSE(survived(each));
  the_list = nullptr;
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  for (const hidden each : kept) REQUIRE_FALSE(survived(each));
  CHECK(statistics().concurrent_collections == 5);
}

TEST_CASE("attachments to the blocks of spans of which nothing is left are forgotten" *
          doctest::skip(without_copies)) {
  start();
  constexpr std::size_t large_bytes = 20'000; // three in a span
  static std::array<void*, 30> holders;
  elsewhere([] {
    the_list = made(nullptr, 1);
    for (void*& each : holders) {
      each = heapwise_gc_malloc(large_bytes);
      REQUIRE(heapwise_gc_set_weak(static_cast<heapwise_gc_weak*>(each), the_list) == 0);
    }
    for (int each = 0; each < 9; ++each) static_cast<void>(heapwise_gc_malloc(large_bytes));
    leave_windows();
  });
  REQUIRE(begin_copy());
  REQUIRE(take_over()); // they have marks from now on
  REQUIRE(statistics().weak_references == holders.size());
  elsewhere([] { holders.fill(nullptr); });
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  CHECK(statistics().weak_references == 0);
  CHECK(statistics().concurrent_collections == 2);
}

TEST_CASE("blocks that are handed out while the copy marks stay: small, large, used again" *
          doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    the_list = made(nullptr, 0);
    heapwise_gc_free(made(nullptr, 0)); // taken from the list of those that were given back
  });
  REQUIRE(begin_copy());
  elsewhere([] {
    for (std::uintptr_t each = 1; each <= 1000; ++each) {
      auto** const large =
          static_cast<node**>(heapwise_gc_malloc(each % 100 == 0 ? 200'000 : 4096));
      the_list = made(the_list, each);
      *large = made(nullptr, each);
      the_list->next = made(the_list->next, reinterpret_cast<std::uintptr_t>(large));
      heapwise_gc_free(made(nullptr, each)); // and the next one gets it
      if (copy_now() == heapwise::os::no_copy) break;
    }
  });
  REQUIRE(take_over());
  elsewhere([] {
    std::size_t count = 0;
    for (node* each = the_list; each->number != 0; each = each->next->next) {
      auto* const* const large = reinterpret_cast<node**>(each->next->number);
      REQUIRE((*large)->number == each->number);
      ++count;
    }
    CHECK(count > 0);
  });
}

TEST_CASE("a large block that is freed while the copy marks, and its place taken by others" *
          doctest::skip(without_copies)) {
  start();
  static void** volatile place;
  elsewhere([] { place = static_cast<void**>(heapwise_gc_malloc(1 << 20)); });
  REQUIRE(begin_copy());
  elsewhere([] {
    heapwise_gc_free(place);
    place = static_cast<void**>(heapwise_gc_malloc(400'000));
    for (int each = 0; each < 1000; ++each) place[each] = made(nullptr, 5);
  });
  REQUIRE(take_over());
  elsewhere([] {
    for (int each = 0; each < 1000; ++each) {
      REQUIRE(static_cast<node*>(place[each])->number == 5);
    }
  });
}

TEST_CASE("a block that the program gets from a weak reference while the copy marks stays" *
          doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    the_block = hidden{made(made(nullptr, 9), 8)};
    REQUIRE(heapwise_gc_set_weak(&the_cell, the_block.shown()) == 0);
    leave_windows();
  });
  REQUIRE(begin_copy()); // it finds that nothing leads to the block
  elsewhere([] {
    auto* const block = static_cast<node*>(heapwise_gc_get_weak(&the_cell));
    REQUIRE(block != nullptr);
    the_list = block->next; // and the block itself may go
    block->next = nullptr;
    REQUIRE(heapwise_gc_set_weak(&the_cell, the_list) == 0);
  });
  REQUIRE(take_over());
  elsewhere([] {
    CHECK(the_list->number == 9);
    leave_windows();
  });
  CHECK(refers(the_cell));
  CHECK(statistics().concurrent_collections == 0); // the world stood still once more
  the_list = nullptr;
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  CHECK_FALSE(refers(the_cell));
}

TEST_CASE("a block that the program got from a weak reference that is gone since stays" *
          doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    the_block = hidden{made(nullptr, 8)};
    REQUIRE(heapwise_gc_set_weak(&the_cell, the_block.shown()) == 0);
    leave_windows();
  });
  REQUIRE(begin_copy());
  elsewhere([] {
    the_list = static_cast<node*>(heapwise_gc_get_weak(&the_cell));
    REQUIRE(heapwise_gc_set_weak(&the_cell, nullptr) == 0);
    leave_windows();
  });
  REQUIRE(take_over());
  CHECK(survived(the_block));
  CHECK(statistics().concurrent_collections == 0); // the world stood still once more
}

TEST_CASE("a block of a window that a thread had before the copy was made stays" *
          doctest::skip(without_copies)) {
  start();
  the_list = made(nullptr, 1); // of a window with room for more
  REQUIRE(begin_copy());
  the_list->next = made(nullptr, 2);
  the_block = hidden{the_list->next};
  REQUIRE(take_over());
  CHECK(survived(the_block));
}

TEST_CASE("weak references that lie in lost blocks are forgotten" * doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    the_list = made(nullptr, 1);
    auto* const holder =
        static_cast<heapwise_gc_weak*>(heapwise_gc_malloc(sizeof(heapwise_gc_weak)));
    REQUIRE(heapwise_gc_set_weak(holder, the_list) == 0);
    leave_windows();
  });
  REQUIRE(statistics().weak_references == 1);
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  CHECK(statistics().concurrent_collections == 1);
  CHECK(statistics().weak_references == 0);
}

TEST_CASE("finalizers and weak references after a collection that marked in a copy" *
          doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    node* const block = made(made(nullptr, 3), 2);
    REQUIRE(heapwise_gc_set_finalizer(block, count_it, nullptr) == 0);
    REQUIRE(heapwise_gc_set_weak(&the_cell, block) == 0);
    REQUIRE(heapwise_gc_set_long_weak(&the_long_cell, block->next) == 0);
    leave_windows();
  });
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  CHECK(statistics().concurrent_collections == 1);
  CHECK(statistics().finalizers_ready == 1);
  CHECK_FALSE(refers(the_cell));
  CHECK(refers(the_long_cell)); // the finalizer may use it
  elsewhere([] { CHECK(heapwise_gc_run_finalizers() == 1); });
  CHECK(finalized == 1);
  REQUIRE(begin_copy());
  REQUIRE(take_over());
  CHECK_FALSE(refers(the_long_cell));
  CHECK(statistics().finalizers == 0);
}

TEST_CASE(
    "a block that is freed while the copy marks has no finalizer, and its next owner is not "
    "affected" *
    doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    node* const block = made(nullptr, 3);
    REQUIRE(heapwise_gc_set_finalizer(block, count_it, nullptr) == 0);
    the_block = hidden{block};
    leave_windows();
  });
  REQUIRE(begin_copy());
  elsewhere([] {
    heapwise_gc_free(the_block.shown());
    for (int each = 0; each < 1000 && the_list != the_block.shown<node>(); ++each) {
      the_list = made(nullptr, 4);
    }
    REQUIRE(the_list == the_block.shown<node>());
    REQUIRE(heapwise_gc_set_finalizer(the_list, count_it, nullptr) == 0);
  });
  REQUIRE(take_over());
  CHECK(statistics().finalizers == 1);
  CHECK(statistics().finalizers_ready == 0);
}

TEST_CASE("while collections are disabled, nothing is taken over" * doctest::skip(without_copies)) {
  start();
  elsewhere([] {
    the_block = hidden{made(nullptr, 8)};
    REQUIRE(heapwise_gc_set_weak(&the_cell, the_block.shown()) == 0);
    leave_windows();
  });
  REQUIRE(begin_copy());
  heapwise_gc_disable();
  elsewhere([] {
    for (int each = 0; each < 1000; ++each) make_garbage();
  });
  CHECK(copy_now() != heapwise::os::no_copy);
  heapwise_gc_enable();
  REQUIRE(take_over());
  CHECK_FALSE(refers(the_cell));
}
