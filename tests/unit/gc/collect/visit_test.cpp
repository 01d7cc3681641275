// All blocks that can be reached, shown to the program.
#include <cstddef>
#include <cstdint>

#include <doctest/doctest.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using heapwise::gc::the_gc;

namespace {

struct node {
  std::uintptr_t number;
  node* next;
  char rest[30];
};

constexpr std::uintptr_t live = 0xA110'CA7E;
constexpr std::uintptr_t dropped = 0xD20'99ED;

node* volatile the_list;
void* volatile the_large_block;

node* made(std::uintptr_t number, node* next) {
  auto* const block = static_cast<node*>(heapwise_gc_malloc(sizeof(node)));
  *block = {number, next, {}};
  return block;
}

struct seen_blocks {
  std::size_t live_nodes = 0;
  std::size_t dropped_nodes = 0;
  std::size_t live_bytes = 0;
  std::size_t large_bytes = 0;
  bool world_stood_still = true;
};

void note(void* block, std::size_t size, void* argument) {
  auto& into = *static_cast<seen_blocks*>(argument);
  into.world_stood_still = into.world_stood_still && the_gc.epoch.load() % 2 == 1;
  if (block == the_large_block) into.large_bytes += size;
  if (size < sizeof(node)) return;
  const std::uintptr_t number = static_cast<node*>(block)->number;
  into.live_nodes += number == live ? 1 : 0;
  into.live_bytes += number == live ? size : 0;
  into.dropped_nodes += number == dropped ? 1 : 0;
}

} // namespace

TEST_CASE("each block that can be reached is shown once, and no other one") {
  heapwise_gc_init(nullptr);
  constexpr std::size_t count = 1000;
  elsewhere([] {
    node* garbage = nullptr;
    for (std::size_t each = 0; each < count; ++each) {
      the_list = made(live, the_list);
      garbage = made(dropped, garbage);
    }
    the_large_block = heapwise_gc_malloc_atomic(100'000);
    for (std::size_t each = 0; each < count; ++each) made(0, nullptr);
  });
  seen_blocks seen;
  std::size_t node_bytes = 0;
  std::size_t large_bytes = 0;
  elsewhere([&] { // leaves no addresses on a stack
    heapwise_gc_each_block(note, &seen);
    node_bytes = heapwise_gc_usable_size(the_list);
    large_bytes = heapwise_gc_usable_size(the_large_block);
  });
  CHECK(seen.live_nodes == count);
  CHECK(seen.dropped_nodes == 0);
  CHECK(seen.live_bytes == count * node_bytes);
  CHECK(seen.large_bytes == large_bytes);
  CHECK(seen.world_stood_still);
  const std::size_t before = gc_test::statistics().collections;
  elsewhere([before] { // the next collection shows nothing
    while (gc_test::statistics().collections == before) made(0, nullptr);
  });
  CHECK(seen.live_nodes == count);
  the_list = nullptr;
  seen = {};
  elsewhere([&] { heapwise_gc_each_block(note, &seen); });
  CHECK(seen.live_nodes == 0);
}
