
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"

namespace {

using namespace heap_tests;

constexpr auto of_64 = static_cast<size_class>(class_of(64));

heapwise_heap* own_heap = nullptr;

/// As handlers do that collect a stack trace: asks the heap for memory, of the same class too.
void allocate_and_end(int /*signal*/) {
  for (int each = 0; each < 1000; ++each) {
    if (heapwise_malloc(64) == nullptr) ::_exit(1);
  }
  heapwise_heap* const heap = own_heap;
  if (heap != nullptr && heapwise_heap_malloc(heap, 64) == nullptr) ::_exit(2);
  heapwise_malloc_purge();
  ::_exit(77);
}

/// Returns: how a process ends that allocates in its handler of SIGABRT; 77 if that returned.
template <class Body>
int end_of(const Body& body) {
  return contract::in_child([&] {
           std::signal(SIGABRT, allocate_and_end);
           ::alarm(60);
           start_without_clock();
           body();
         })
      .exit_code;
}

std::vector<std::byte*> span_of_blocks() {
  bring_everything_home();
  return take_blocks(the_bins[of_64], of_64, class_table[of_64].blocks);
}

TEST_CASE("a handler may allocate where a block came back to its span twice") {
  CHECK(end_of([] {
          const std::vector<std::byte*> blocks = span_of_blocks();
          put_back(the_bins[of_64], {blocks[0]}, of_64);
          put_back(the_bins[of_64], {blocks[1], blocks[0]}, of_64);
        }) == 77);
}

TEST_CASE("a handler may allocate where no block starts") {
  CHECK(end_of([] {
          const std::vector<std::byte*> blocks = span_of_blocks();
          put_back(the_bins[of_64], {blocks[0] + 16}, of_64);
        }) == 77);
}

TEST_CASE("a handler may allocate where a block of a mixed span came back twice") {
  CHECK(end_of([] {
          std::vector<std::byte*> blocks = span_of_blocks();
          const span& home = the_space.span_at(blocks[0]);
          const std::vector<std::byte*> freed(blocks.begin() + 8, blocks.end());
          put_back(the_bins[of_64], freed, of_64);
          while (home.use.load() != slice_use::mixed) {
            if (!the_bins[of_64].let_go_sparsest(of_64, 1)) ::_exit(3);
          }
          put_back(the_bins[of_64], {blocks[0]}, of_64);
          put_back(the_bins[of_64], {blocks[0]}, of_64);
        }) == 77);
}

TEST_CASE("a handler may use a heap of its own whose block was freed twice") {
  CHECK(end_of([] {
          own_heap = heapwise_heap_create();
          void* const block = heapwise_heap_malloc(own_heap, 64);
          heapwise_free(block);
          heapwise_free(block);
        }) == 77);
}

TEST_CASE("each invalid block of a batch is told, and the valid ones come back") {
  const contract::ending how = contract::in_child([] {
    start_without_clock();
    the_options.invalid_free = when_invalid::warn;
    const std::vector<std::byte*> blocks = span_of_blocks();
    bin& home = the_bins[of_64];
    const std::size_t free_before = home.free_blocks();
    put_back(home, {blocks[0], blocks[1] + 16, blocks[2], blocks[0], blocks[3]}, of_64);
    ::_exit(home.free_blocks() - free_before == 3 ? 0 : 1);
  });
  CHECK(how.exit_code == 0);
  CHECK(how.error.find("freed before") != std::string::npos);
  CHECK(how.error.find("inside of a block") != std::string::npos);
}

} // namespace
