#include <cerrno>
#include <cstddef>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

heapwise_gc_weak the_cell;
heapwise_gc_weak the_long_cell;
void* volatile the_static_root;

/// Calls nothing that leaves the address where a collection finds it.
bool refers(const heapwise_gc_weak& cell) {
  bool does = false;
  elsewhere([&] { does = heapwise_gc_get_weak(&cell) != nullptr; });
  return does;
}

void nothing(void*, void*) {}

} // namespace

TEST_CASE("a weak reference does not keep its block, and is empty when that is lost") {
  heapwise_gc_init(nullptr);
  elsewhere([] {
    void* const block = heapwise_gc_malloc(64);
    the_static_root = block;
    REQUIRE(heapwise_gc_set_weak(&the_cell, block) == 0);
    CHECK(heapwise_gc_get_weak(&the_cell) == block);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(refers(the_cell));
  the_static_root = nullptr;
  heapwise_gc_collect();
  CHECK_FALSE(refers(the_cell));
  CHECK(heapwise_gc_set_weak(&the_cell, nullptr) == 0);
  CHECK(statistics().weak_references == 0);
}

TEST_CASE("the address that get returns keeps the block") {
  static hidden block;
  elsewhere([] {
    block = hidden{heapwise_gc_malloc(64)};
    REQUIRE(heapwise_gc_set_weak(&the_cell, block.shown()) == 0);
    gc_test::leave_windows();
  });
  elsewhere([] {
    the_static_root = heapwise_gc_get_weak(&the_cell);
    heapwise_gc_collect();
  });
  CHECK(survived(block));
  elsewhere([] { CHECK(the_static_root == block.shown()); });
  the_static_root = nullptr;
  heapwise_gc_collect();
  CHECK_FALSE(refers(the_cell));
}

TEST_CASE("a weak reference is empty before the finalizer, a long one after it") {
  elsewhere([] {
    void* const block = heapwise_gc_malloc(64);
    REQUIRE(heapwise_gc_set_finalizer(block, nothing, nullptr) == 0);
    REQUIRE(heapwise_gc_set_weak(&the_cell, block) == 0);
    REQUIRE(heapwise_gc_set_long_weak(&the_long_cell, block) == 0);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK_FALSE(refers(the_cell));
  CHECK(refers(the_long_cell));
  heapwise_gc_collect();
  CHECK(refers(the_long_cell));
  elsewhere([] { CHECK(heapwise_gc_run_finalizers() == 1); });
  heapwise_gc_collect();
  CHECK_FALSE(refers(the_long_cell));
}

TEST_CASE("a cell refers to what it was set to last, and several may refer to one block") {
  elsewhere([] {
    void* const first = heapwise_gc_malloc(64);
    void* const second = heapwise_gc_malloc(64);
    heapwise_gc_weak other{};
    REQUIRE(heapwise_gc_set_weak(&the_cell, first) == 0);
    REQUIRE(heapwise_gc_set_weak(&other, first) == 0);
    REQUIRE(heapwise_gc_set_weak(&other, first) == 0);
    REQUIRE(heapwise_gc_set_weak(&the_cell, second) == 0);
    CHECK(heapwise_gc_get_weak(&the_cell) == second);
    CHECK(heapwise_gc_get_weak(&other) == first);
    REQUIRE(heapwise_gc_set_weak(&other, second) == 0);
    heapwise_gc_free(first);
    CHECK(heapwise_gc_get_weak(&other) == second);
    heapwise_gc_free(second);
    CHECK(heapwise_gc_get_weak(&other) == nullptr);
    CHECK(heapwise_gc_get_weak(&the_cell) == nullptr);
    REQUIRE(heapwise_gc_set_weak(&other, nullptr) == 0);
  });
}

TEST_CASE("realloc takes weak references along") {
  elsewhere([] {
    void* const block = heapwise_gc_malloc(64);
    REQUIRE(heapwise_gc_set_weak(&the_cell, block) == 0);
    void* const new_block = heapwise_gc_realloc(block, 50'000);
    CHECK(new_block != block);
    CHECK(heapwise_gc_get_weak(&the_cell) == new_block);
  });
}

TEST_CASE("cells in blocks that are lost are given back") {
  REQUIRE(heapwise_gc_set_weak(&the_cell, nullptr) == 0);
  REQUIRE(heapwise_gc_set_weak(&the_long_cell, nullptr) == 0);
  const std::size_t before = statistics().weak_references;
  elsewhere([] {
    the_static_root = heapwise_gc_malloc(64);
    for (int each = 0; each < 1000; ++each) {
      auto* const cell =
          static_cast<heapwise_gc_weak*>(heapwise_gc_malloc(sizeof(heapwise_gc_weak)));
      REQUIRE(heapwise_gc_set_weak(cell, the_static_root) == 0);
    }
    CHECK(statistics().weak_references >= 1000);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(statistics().weak_references <= before + 3); // words by chance
  the_static_root = nullptr;
  heapwise_gc_collect();
}

TEST_CASE("an address where no block begins is refused, and the cell is as it was") {
  void* const block = heapwise_gc_malloc(64);
  REQUIRE(heapwise_gc_set_weak(&the_cell, block) == 0);
  int on_stack = 0;
  CHECK(heapwise_gc_set_weak(&the_cell, &on_stack) == EINVAL);
  CHECK(heapwise_gc_get_weak(&the_cell) == block);
}
