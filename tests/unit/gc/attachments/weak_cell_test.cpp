// Cells in blocks to which nothing leads but the thread that reads the cell.
#include <array>
#include <atomic>
#include <cstddef>
#include <thread>

#include <doctest/doctest.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;

namespace {

void* volatile the_static_root;

hidden lone_cell; // in a block that nothing but the reader leads to
hidden target;
heapwise_gc_weak other_cell;
hidden other; // what another thread lets a cell refer to meanwhile
std::atomic<int> step;

hidden block_in_no_window() {
  hidden block;
  elsewhere([&] {
    block = hidden{heapwise_gc_malloc(64)};
    for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(64));
  });
  return block;
}

/// Effects: clears what an earlier thread left on this stack.
[[gnu::noinline]] void clear_stack() {
  std::array<volatile std::byte, 16'384> unused;
  for (volatile std::byte& each : unused) each = std::byte{};
}

/// Lets the reader wait for the lock that this thread holds.
void let_reader_wait(heapwise_gc_event event, void* /*argument*/) {
  if (event != HEAPWISE_GC_COLLECTION_BEGINS || step != 1) return;
  step = 2;
  ::usleep(100'000);
}

/// Effects: takes the first target that is unused.
void set_other_cell() {
  heapwise_gc_register_thread();
  while (step == 0) ::usleep(100);
  while (step == 1) {
  }
  static_cast<void>(heapwise_gc_set_weak(&other_cell, other.shown()));
}

} // namespace

TEST_CASE("a cell lives as long as a thread reads it, beside collections that may mark in copies" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  for (const bool is_target_reused : {false, true}) {
    CAPTURE(is_target_reused);
    CHECK(gc_test::status_of_process([=] {
            heapwise_gc_options options{};
            options.concurrent_bytes = std::size_t{1} << 40;
            if (heapwise_gc_init(&options) != 0) return 1;
            target = block_in_no_window();
            other = block_in_no_window();
            the_static_root = target.shown();
            if (heapwise_gc_keep(other.shown()) != 0) return 2;
            lone_cell = block_in_no_window();
            elsewhere(
                [] { heapwise_gc_set_weak(lone_cell.shown<heapwise_gc_weak>(), target.shown()); });
            heapwise_gc_on_event(let_reader_wait, nullptr);
            static hidden got;
            std::thread reader{[] {
              heapwise_gc_register_thread();
              clear_stack();
              step = 1;
              while (step != 2) {
              }
              got = hidden{heapwise_gc_get_weak(lone_cell.shown<heapwise_gc_weak>())};
            }};
            std::thread setter;
            if (is_target_reused) setter = std::thread{set_other_cell};
            while (step != 1) ::usleep(100);
            heapwise_gc_collect();
            reader.join();
            if (setter.joinable()) setter.join();
            return got.shown() == target.shown() ? 0 : 3;
          }) == 0);
  }
}
