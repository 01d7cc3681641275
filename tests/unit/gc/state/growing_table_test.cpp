// A thread that is stopped while the loader replaces the table of its thread-local variables: the
// old table is freed, and the thread's descriptor still has its address.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <malloc.h>

#include "gc/libraries.hpp"
#include "gc/surroundings.hpp"

using gc_test::hidden;
using gc_test::library;

#if HEAPWISE_REPLACES_REALLOC

namespace {

thread_local bool stops_in_realloc = false;
std::atomic<bool> in_realloc{false};

} // namespace

extern "C" void* __libc_realloc(void* block, std::size_t size) noexcept;

/// The loader calls it for a longer table. Takes its time after the old one is free.
extern "C" void* realloc(void* block, std::size_t size) noexcept {
  if (block == nullptr || !stops_in_realloc) return __libc_realloc(block, size);
  stops_in_realloc = false;
  void* const larger = std::malloc(size);
  const std::size_t bytes = ::malloc_usable_size(block);
  std::memcpy(larger, block, std::min(bytes, size));
  std::memset(block, 0xEE, bytes);
  asm volatile("" : : "r"(block) : "memory"); // written, although it is freed at once
  std::free(block);
  in_realloc.store(true);
  in_realloc.notify_one();
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds{50};
  while (std::chrono::steady_clock::now() < end) std::this_thread::yield();
  return larger;
}

#endif

TEST_CASE("a thread whose table is being replaced keeps its blocks" *
          doctest::skip(HEAPWISE_SKIP_STOPS || !HEAPWISE_REPLACES_REALLOC)) {
#if HEAPWISE_REPLACES_REALLOC
  heapwise_gc_init(nullptr);
  const library before{HEAPWISE_GC_PLUGIN};
  std::vector<library> more;
  std::atomic<bool> has_table{false};
  std::atomic<bool> loaded{false};
  std::atomic<bool> over{false};
  hidden block;
  std::thread other{[&] {
    heapwise_gc_register_thread();
    block = gc_test::keep_new_block(before);
    gc_test::overwrite_stack();
    has_table.store(true);
    has_table.notify_one();
    loaded.wait(false);
    stops_in_realloc = true;
    more.back().keep_in_thread(nullptr);
    over.wait(false);
    heapwise_gc_unregister_thread();
  }};
  has_table.wait(false); // one that is made later is long enough for all of them
  for (int each = 0; each < 40; ++each) more.emplace_back(HEAPWISE_GC_PLUGIN);
  more.emplace_back(HEAPWISE_GC_PLUGIN_LARGE); // does not fit beside the variables of the program
  loaded.store(true);
  loaded.notify_one();
  in_realloc.wait(false);
  heapwise_gc_collect();
  CHECK(gc_test::survived(block));
  over.store(true);
  over.notify_one();
  other.join();
#endif
}
