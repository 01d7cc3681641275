// A C file whose malloc, free and pthread_create are the collector's.
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <doctest/doctest.h>

#include "../../../gc/redirected.h"
#include "gc/surroundings.hpp"

TEST_CASE("the memory of a redirected file is the collector's, that of others is not") {
  heapwise_gc_init(nullptr);
  CHECK(each_is_collected() == 1);
  CHECK(texts_are_copied() == 1);
  CHECK(too_much_is_refused() == 1);
  CHECK(other_blocks_can_be_freed() == 1);
  void* const own = std::malloc(10);
  CHECK(heapwise_gc_base(own) == nullptr);
  std::free(own);
}

TEST_CASE("a thread of a redirected file is registered, and its argument is a root before" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  for (int each = 0; each < 20; ++each) REQUIRE(sum_in_a_thread(1000) == 4000);
}

TEST_CASE("the argument of a thread is there when it begins, after collections" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  gc_test::elsewhere([] { REQUIRE(start_a_late_thread(12'345) == 1); });
  heapwise_gc_collect();
  gc_test::elsewhere([] { // what was lost is used again
    for (const std::size_t size : {std::size_t{16}, std::size_t{64}}) {
      for (int each = 0; each < 100'000; ++each) {
        std::memset(heapwise_gc_malloc(size), 0x5A, size);
      }
    }
  });
  CHECK(number_of_late_thread() == 12'345);
}

TEST_CASE("a block that a thread returns is kept until the thread is joined" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  for (const end_of_thread end : {RETURNS, EXITS, RETURNS_TO_TRYJOIN, RETURNS_TO_TIMEDJOIN}) {
    CAPTURE(end);
    CHECK(results_of_ended_threads(end) == count_of_ended_threads());
    CHECK(heapwise::gc::the_gc.results.size() == 0);
  }
}

TEST_CASE("nothing keeps what a detached thread returns" * doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  for (const time_of_detaching when : {CREATED_DETACHED, DETACHED_RUNNING, DETACHED_ENDED}) {
    CAPTURE(when);
    REQUIRE(end_detached_threads(when) == 1);
    CHECK(heapwise::gc::the_gc.results.size() == 0);
  }
}

TEST_CASE("a thread of a redirected file that cannot be started leaves nothing behind" *
          doctest::skip(HEAPWISE_EMULATED || HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  heapwise_gc_collect();
  const std::size_t live_bytes = gc_test::statistics().live_bytes;
  for (int each = 0; each < 100; ++each) REQUIRE(a_thread_that_cannot_start_is_an_error() == 1);
  heapwise_gc_collect();
  CHECK(gc_test::statistics().live_bytes < live_bytes + 100 * 16);
  CHECK(heapwise::gc::the_gc.results.size() == 0);
}
