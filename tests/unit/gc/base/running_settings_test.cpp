// What a program changes while the collector runs.
#include <cerrno>
#include <cstddef>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::statistics;
using heapwise::gc::the_gc;

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;
void** volatile the_list; // blocks of 1 KiB, each leads to the one before

void lengthen_list(std::size_t bytes) {
  for (std::size_t position = 0; position < bytes; position += 1024) {
    auto** const block = static_cast<void**>(heapwise_gc_malloc(1024));
    *block = the_list;
    the_list = block;
  }
}

/// Returns: how many free slices hold memory of the system.
std::size_t free_slices_with_memory() {
  using namespace heapwise::gc;
  std::size_t count = 0;
  for (slice_index slice = space::first_slice; slice < the_gc.memory.top(); ++slice) {
    const bool is_free = the_gc.memory.kind_at(slice) == no_kind;
    count += is_free && the_gc.memory.record(slice).dirty ? 1 : 0;
  }
  return count;
}

} // namespace

TEST_CASE("a limit that is set later holds, and can be taken away") {
  heapwise_gc_init(nullptr);
  elsewhere([] { lengthen_list(4 * mib); });
  heapwise_gc_set_limit(8 * mib);
  CHECK(heapwise_gc_malloc(5 * mib) == nullptr);
  CHECK(errno == ENOMEM);
  CHECK(heapwise_gc_malloc(2 * mib) != nullptr);
  heapwise_gc_set_limit(mib); // below what blocks take
  CHECK(heapwise_gc_malloc(2 * mib) == nullptr);
  heapwise_gc_set_limit(0);
  CHECK(heapwise_gc_malloc(64 * mib) != nullptr);
}

TEST_CASE("the divisor that is set later decides on the next target") {
  heapwise_gc_init(nullptr);
  elsewhere([] { lengthen_list(16 * mib); });
  heapwise_gc_set_free_space_divisor(1);
  heapwise_gc_collect();
  CHECK(statistics().target_heap_bytes >= 48 * mib);
  heapwise_gc_set_free_space_divisor(0);
  heapwise_gc_collect();
  CHECK(statistics().target_heap_bytes < 32 * mib);
  heapwise_gc_set_free_space_divisor(8);
  heapwise_gc_collect();
  CHECK(statistics().target_heap_bytes < 24 * mib);
}

TEST_CASE("all free memory goes back to the system when the program asks for it") {
  heapwise_gc_init(nullptr);
  elsewhere([] { lengthen_list(16 * mib); });
  the_list = nullptr;
  heapwise_gc_collect();
  CHECK(free_slices_with_memory() > 0);
  heapwise_gc_collect_and_release();
  CHECK(free_slices_with_memory() == 0);
  elsewhere([] {
    lengthen_list(16 * mib);
    for (std::size_t word = 1; word < 128; ++word) REQUIRE(the_list[word] == nullptr);
  });
}
