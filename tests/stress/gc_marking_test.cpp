// Marking functions look into blocks that other threads fill, free and use again, whenever the
// world happens to stop.
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../unit/gc/surroundings.hpp"

namespace {

constexpr std::size_t link_count = 4000;
constexpr std::uintptr_t magic = 0x5EED'5EED;
constexpr std::size_t thread_count = 3;

/// Its links are valid as soon as the word behind them says so.
struct table {
  std::array<std::uintptr_t, link_count> links; // complements of addresses
  std::uintptr_t filled;
};

std::array<table* volatile, thread_count> the_tables; // roots, also of tables that were freed
std::atomic<std::size_t> calls{0};
std::atomic<std::size_t> mistakes{0};

void mark_table(const heapwise_gc_marking* marking, const void* block, std::size_t size,
                void* /*argument*/) {
  ++calls;
  if (size < sizeof(table)) ++mistakes;
  const auto& its = *static_cast<const table*>(block);
  if (its.filled == 0) return;
  if (its.filled != magic) ++mistakes;
  for (const std::uintptr_t link : its.links) {
    if (link == 0) ++mistakes;
    heapwise_gc_mark_address(marking, reinterpret_cast<const void*>(~link));
  }
}

std::uintptr_t* made(std::uintptr_t number) {
  auto* const block = static_cast<std::uintptr_t*>(heapwise_gc_malloc_atomic(16));
  *block = number;
  return block;
}

/// Effects: fills a table, forgets the addresses of what it leads to, and finds them again.
void fill_and_free(std::size_t thread, std::uintptr_t round, const heapwise_gc_layout* layout) {
  auto* const its = static_cast<table*>(heapwise_gc_malloc_typed(layout, sizeof(table)));
  the_tables[thread] = its;
  // Volatile: its plain address has to be somewhere until the table is valid.
  std::uintptr_t* volatile number = made(round);
  its->links.fill(~reinterpret_cast<std::uintptr_t>(number));
  std::atomic_signal_fence(std::memory_order_seq_cst);
  *static_cast<volatile std::uintptr_t*>(&its->filled) = magic;
  number = nullptr;
  for (int each = 0; each < 50; ++each) static_cast<void>(made(~std::uintptr_t{0}));
  if (*reinterpret_cast<std::uintptr_t*>(~its->links[link_count / 2]) != round) ++mistakes;
  if (round % 8 != 0) heapwise_gc_free(its);
}

} // namespace

TEST_CASE("a marking function never meets a block that is half cleared" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_options options{};
  options.markers = 2;
  heapwise_gc_init(&options);
  const heapwise_gc_layout* const layout = heapwise_gc_make_marked_layout(mark_table, nullptr);
  std::atomic<bool> over{false};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < thread_count; ++thread) {
    threads.emplace_back([&, thread] {
      heapwise_gc_register_thread();
      for (std::uintptr_t round = 1; !over; ++round) fill_and_free(thread, round, layout);
      heapwise_gc_unregister_thread();
    });
  }
  for (int round = 0; round < 500 || calls < 500; ++round) heapwise_gc_collect();
  over = true;
  for (std::thread& each : threads) each.join();
  CHECK(mistakes == 0);
}
