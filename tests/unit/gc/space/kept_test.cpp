#include <cerrno>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::statistics;
using gc_test::survived;

namespace {

constexpr std::size_t more_than_there_is = std::numeric_limits<std::size_t>::max() / 4;

char in_need;

} // namespace

TEST_CASE("a block that is kept is reachable, as often as it was asked for") {
  heapwise_gc_init(nullptr);
  static hidden block;
  static hidden other;
  elsewhere([] {
    auto** const pointers = static_cast<void**>(heapwise_gc_malloc(64));
    pointers[3] = heapwise_gc_malloc(32);
    block = hidden{pointers};
    other = hidden{pointers[3]};
    REQUIRE(heapwise_gc_keep(pointers) == 0);
    REQUIRE(heapwise_gc_keep(pointers) == 0);
    gc_test::leave_windows();
  });
  heapwise_gc_collect();
  CHECK(survived(block));
  CHECK(survived(other));
  elsewhere([] { heapwise_gc_stop_keeping(block.shown()); });
  heapwise_gc_collect();
  CHECK(survived(block));
  elsewhere([] {
    heapwise_gc_stop_keeping(block.shown());
    heapwise_gc_stop_keeping(block.shown()); // once too often
  });
  heapwise_gc_collect();
  CHECK_FALSE(survived(block));
  CHECK_FALSE(survived(other));
}

TEST_CASE("an uncollectable block stays until it is freed, and is looked through if not atomic") {
  static hidden block;
  static hidden other;
  static hidden not_seen;
  static hidden atomic;
  elsewhere([] {
    auto** const pointers = static_cast<void**>(heapwise_gc_malloc_uncollectable(64));
    pointers[0] = heapwise_gc_malloc(32);
    auto** const texts = static_cast<void**>(heapwise_gc_malloc_atomic_uncollectable(64));
    texts[0] = heapwise_gc_malloc(32);
    block = hidden{pointers};
    other = hidden{pointers[0]};
    atomic = hidden{texts};
    not_seen = hidden{texts[0]};
    for (int each = 0; each < 1000; ++each) static_cast<void>(heapwise_gc_malloc(32));
    gc_test::leave_windows();
  });
  const std::size_t kept = statistics().kept_blocks;
  heapwise_gc_collect();
  CHECK(survived(block));
  CHECK(survived(other));
  CHECK(survived(atomic));
  CHECK_FALSE(survived(not_seen));
  elsewhere([] {
    heapwise_gc_free(block.shown());
    heapwise_gc_free(atomic.shown());
  });
  heapwise_gc_collect();
  CHECK_FALSE(survived(other));
  CHECK(statistics().kept_blocks == kept - 2);
}

TEST_CASE("without memory the program decides what an allocation returns") {
  const auto give = [](std::size_t size, void* argument) -> void* {
    CHECK(size == more_than_there_is);
    static_cast<void>(heapwise_gc_malloc(100)); // no lock is held
    return argument;
  };
  heapwise_gc_on_no_memory(give, &in_need);
  CHECK(heapwise_gc_malloc(more_than_there_is) == &in_need);
  CHECK(heapwise_gc_malloc_atomic(more_than_there_is) == &in_need);
  const auto fail = [](std::size_t, void*) -> void* { throw std::runtime_error{"no memory"}; };
  heapwise_gc_on_no_memory(fail, nullptr);
  CHECK_THROWS_AS(heapwise_gc_malloc(more_than_there_is), std::runtime_error);
  heapwise_gc_on_no_memory(nullptr, nullptr);
  errno = 0;
  CHECK(heapwise_gc_malloc(more_than_there_is) == nullptr);
  CHECK(errno == ENOMEM);
}
