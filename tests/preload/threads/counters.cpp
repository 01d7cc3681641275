// Threads that count what they allocate and free, beside counts of their own by the usable size of
// each block.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include <heapwise/malloc.h>
#include <malloc.h>
#include <heapwise/heap.hpp>

namespace {

struct counted {
  heapwise_thread_counters expected;

  void* got(void* block) {
    if (block == nullptr) std::abort();
    expected.allocated_bytes += malloc_usable_size(block);
    ++expected.allocated_blocks;
    return block;
  }
  void* gone(void* block) {
    if (block == nullptr) return nullptr;
    expected.freed_bytes += malloc_usable_size(block);
    ++expected.freed_blocks;
    return block;
  }
  void resize(void*& block, std::size_t bytes) {
    const std::size_t before = malloc_usable_size(block);
    void* const same = std::realloc(block, bytes);
    if (same == nullptr) std::abort();
    const std::size_t now = malloc_usable_size(same);
    if (same != block || now != before) {
      expected.allocated_bytes += now;
      ++expected.allocated_blocks;
      expected.freed_bytes += before;
      ++expected.freed_blocks;
    }
    block = same;
  }
};

bool same(const heapwise_thread_counters& one, const heapwise_thread_counters& other) {
  return one.allocated_bytes == other.allocated_bytes && one.freed_bytes == other.freed_bytes &&
         one.allocated_blocks == other.allocated_blocks && one.freed_blocks == other.freed_blocks;
}

[[noreturn]] void differ(const char* where, const heapwise_thread_counters& counts,
                         const heapwise_thread_counters& expected) {
  std::printf("%s: allocated %zu B in %zu, freed %zu B in %zu; not %zu in %zu, %zu in %zu\n", where,
              counts.allocated_bytes, counts.allocated_blocks, counts.freed_bytes,
              counts.freed_blocks, expected.allocated_bytes, expected.allocated_blocks,
              expected.freed_bytes, expected.freed_blocks);
  std::exit(1);
}

void use_all_ways(std::vector<void*>& blocks, unsigned seed) {
  std::vector<void*> slots(512);
  const heapwise_thread_counters* const counts = heapwise::thread_counters();
  if (counts == nullptr || counts != heapwise_thread_counters_get()) std::abort();
  counted mine{*counts};
  std::minstd_rand random{seed};
  for (int step = 0; step < 60'000; ++step) {
    void*& slot = slots[random() % slots.size()];
    const std::size_t bytes = random() % 16 == 0 ? random() % 300'000 : random() % 600;
    switch (random() % 8) {
      case 0:
        std::free(mine.gone(slot));
        slot = mine.got(std::malloc(bytes));
        break;
      case 1:
        std::free(mine.gone(slot));
        slot = mine.got(std::calloc(1, bytes));
        break;
      case 2:
        ::operator delete(mine.gone(slot));
        slot = mine.got(::operator new(bytes));
        break;
      case 3:
        heapwise::deallocate(mine.gone(slot));
        slot = mine.got(heapwise::allocate(bytes));
        break;
      case 4:
        std::free(mine.gone(slot));
        slot = mine.got(std::aligned_alloc(256, bytes));
        break;
      case 5:
        if (slot != nullptr) mine.resize(slot, bytes + 1);
        break;
      case 6: {
        void* const short_lived = heapwise::allocate(64);
        mine.gone(mine.got(short_lived));
        heapwise::deallocate(short_lived, 64);
        break;
      }
      default:
        std::free(mine.gone(slot));
        slot = nullptr;
    }
    if (step == 30'000) heapwise_thread_idle();
  }
  if (!same(*counts, mine.expected)) differ("all ways", *counts, mine.expected);
  // The blocks of a separate heap do not count, nor do their frees.
  heapwise_heap* const own = heapwise_heap_create();
  const heapwise_thread_counters with_heap = *counts;
  for (int i = 0; i < 100; ++i) heapwise_free(heapwise_heap_malloc(own, 100));
  if (heapwise_realloc(heapwise_heap_malloc(own, 100), 1000) == nullptr) std::abort();
  if (!same(*counts, with_heap)) differ("separate heap", *counts, with_heap);
  heapwise_heap_destroy(own);
  blocks = slots;
}

} // namespace

int main() {
  constexpr unsigned threads = 4;
  std::vector<std::vector<void*>> blocks(threads);
  {
    std::vector<std::thread> workers;
    for (unsigned each = 0; each < threads; ++each)
      workers.emplace_back(use_all_ways, std::ref(blocks[each]), each + 1);
    for (std::thread& each : workers) each.join();
  }
  // The thread that frees a block counts its free, whichever thread allocated it.
  const heapwise_thread_counters* const counts = heapwise_thread_counters_get();
  counted mine{*counts};
  for (const std::vector<void*>& each : blocks)
    for (void* const block : each) std::free(mine.gone(block));
  if (!same(*counts, mine.expected)) differ("freed elsewhere", *counts, mine.expected);
  // A thread that does not count, and gets a cache of one that did.
  std::thread{[] { std::free(std::malloc(100)); }}.join();
  std::puts("as counted");
}
