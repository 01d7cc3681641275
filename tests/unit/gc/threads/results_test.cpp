// Cells for what threads return.
#include <cstddef>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"
#include "os/collector/world.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::survived;
using heapwise::gc::the_gc;

namespace {

std::size_t cells() { return the_gc.results.size(); }

/// Returns: the cell of a thread with this pthread_t.
std::size_t add_cell(unsigned long thread, bool is_detached = false) {
  const std::size_t number = heapwise_gc_add_result(is_detached ? 1 : 0);
  REQUIRE(number != 0);
  heapwise_gc_name_result(number, thread);
  return number;
}

} // namespace

TEST_CASE("a result keeps its block, also by an address inside of it, until its cell is removed") {
  REQUIRE(heapwise_gc_init(nullptr) == 0);
  static hidden block;
  const std::size_t number = add_cell(1);
  elsewhere([] {
    block = hidden{heapwise_gc_malloc(80)};
    heapwise_gc_set_result(1, block.shown<char>() + 40);
    gc_test::leave_windows();
    for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
  });
  heapwise_gc_collect();
  CHECK(survived(block));
  CHECK(heapwise_gc_find_result(1) == number);
  heapwise_gc_remove_result(number);
  CHECK(heapwise_gc_find_result(1) == 0);
  heapwise_gc_collect();
  CHECK_FALSE(survived(block));
}

TEST_CASE("a pthread_t that is used again gets a new cell, and the old number is of no effect") {
  const std::size_t old_number = add_cell(2);
  heapwise_gc_set_result(2, nullptr);
  const std::size_t number = add_cell(2);
  CHECK(number != old_number);
  CHECK(cells() == 1);
  CHECK(heapwise_gc_find_result(2) == number);
  heapwise_gc_remove_result(old_number);  // by the thread that joined the earlier one
  heapwise_gc_name_result(old_number, 2); // by the thread that created it
  CHECK(heapwise_gc_find_result(2) == number);
  heapwise_gc_name_result(number, 3); // the second call
  CHECK(heapwise_gc_find_result(3) == 0);
  heapwise_gc_remove_result(number);
  CHECK(cells() == 0);
}

TEST_CASE("the cell of a detached thread goes when the thread ends, or when it is detached then") {
  add_cell(4, true);
  heapwise_gc_set_result(4, &the_gc);
  CHECK(cells() == 0);
  add_cell(4);
  heapwise_gc_detach_result(4);
  CHECK(cells() == 1);
  heapwise_gc_set_result(4, &the_gc);
  CHECK(cells() == 0);
  add_cell(4);
  heapwise_gc_set_result(4, &the_gc);
  CHECK(cells() == 1);
  heapwise_gc_detach_result(4);
  CHECK(cells() == 0);
}

TEST_CASE("for a thread without a cell, and a number without one, nothing is done") {
  heapwise_gc_set_result(5, nullptr);
  heapwise_gc_detach_result(5);
  heapwise_gc_remove_result(0);
  heapwise_gc_remove_result(12'345);
  CHECK(heapwise_gc_find_result(5) == 0);
  CHECK(cells() == 0);
}

TEST_CASE("the child of a fork has only the cell of the thread that forked") {
  REQUIRE(heapwise_gc_init(nullptr) == 0);
  const std::size_t other = add_cell(6);
  const std::size_t own = add_cell(heapwise::os::this_thread());
  CHECK(gc_test::status_of_process([] {
          return cells() == 1 && heapwise_gc_find_result(heapwise::os::this_thread()) != 0 ? 0 : 1;
        }) == 0);
  CHECK(cells() == 2);
  heapwise_gc_remove_result(own);
  heapwise_gc_remove_result(other);
}
