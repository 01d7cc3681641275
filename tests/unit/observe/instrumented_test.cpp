#include <heapwise/observe/instrumented.hpp>

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include <doctest/doctest.h>

#include "contract/policies.hpp"

namespace {

using contract::drain;
using heapwise::instrumented;
using heapwise::pool_counts;

static_assert(heapwise::block_pool<instrumented<heapwise::pool<>>>);

/// Writes a log; for one thread.
struct logger {
  std::string* log;
  void on_exhausted() noexcept { *log += "exhausted "; }
  void on_growth(std::size_t) noexcept { *log += "growth "; }
  void on_growth_refused(std::size_t) noexcept { *log += "refused "; }
  void on_given_back(std::size_t) noexcept { *log += "back "; }
  void on_destroyed(const pool_counts& counts) noexcept {
    *log += "destroyed(" + std::to_string(counts.live) + ") ";
  }
};

CONTRACT_TEST_CASE("counters count", S, CONTRACT_SETTINGS) {
  instrumented<typename S::pool_type> blocks{S::options(32, 100)};
  int elsewhere = 0;
  std::vector<void*> mine;
  for (int i = 0; i < 60; ++i) mine.push_back(blocks.allocate());
  for (int i = 0; i < 20; ++i) {
    blocks.deallocate(mine.back());
    mine.pop_back();
  }
  constexpr bool aborts = S::checking::enabled; // if a foreign pointer is freed
  if (!aborts) CHECK_FALSE(blocks.deallocate(&elsewhere));
  CHECK(blocks.deallocate(nullptr));
  pool_counts counts = blocks.counts();
  CHECK(counts.allocations == 60);
  CHECK(counts.frees == 20);
  CHECK(counts.refused_frees == (aborts ? 0 : 1));
  CHECK(counts.failed_allocations == 0);
  CHECK(counts.live == 40);
  CHECK(counts.peak == 60);
  CHECK(drain(blocks).size() == 60);
  CHECK_THROWS_AS(static_cast<void>(blocks.allocate()), std::bad_alloc);
  counts = blocks.counts();
  CHECK(counts.failed_allocations == 2);
  CHECK(counts.peak == 100);
  blocks.reset();
  CHECK(blocks.counts().live == 0);
  CHECK(blocks.counts().peak == 100);
}

TEST_CASE_TEMPLATE("a block freed twice in a row counts as refused, if the pool refuses it", Policy,
                   heapwise::unsynchronized, heapwise::locked, heapwise::thread_cached) {
  instrumented<heapwise::pool<Policy, heapwise::foreign_checked>> blocks{
      {.block_size = 32, .block_count = 8}};
  void* const block = blocks.allocate();
  CHECK(blocks.deallocate(block));
  CHECK_FALSE(blocks.deallocate(block));
  const pool_counts counts = blocks.counts();
  CHECK(counts.frees == 1);
  CHECK(counts.refused_frees == 1);
  CHECK(counts.live == 0);
  CHECK(counts.peak == 1);
}

TEST_CASE("the peak is right while other threads free blocks twice") {
  instrumented<heapwise::pool<heapwise::thread_cached, heapwise::foreign_checked>> blocks{
      {.block_size = 32, .block_count = 1000}};
  constexpr int careless_threads = 3;
  std::atomic<bool> stop{false};
  std::atomic<int> begun{0};
  std::vector<std::thread> threads;
  for (int n = 0; n < careless_threads; ++n) {
    threads.emplace_back([&] {
      void* const block = blocks.allocate();
      blocks.deallocate(block);
      ++begun;
      while (!stop) CHECK_FALSE(blocks.deallocate(block));
    });
  }
  while (begun < careless_threads) std::this_thread::yield();
  for (int i = 0; i < 50'000; ++i) {
    void* const block = blocks.allocate();
    if (blocks.counts().live != 1) {
      CHECK(blocks.counts().live == 1);
      break;
    }
    blocks.deallocate(block);
  }
  stop = true;
  for (std::thread& each : threads) each.join();
  CHECK(blocks.counts().peak <= careless_threads + 1);
}

CONTRACT_TEST_CASE("it is the pool in everything else", S, CONTRACT_SETTINGS) {
  typename S::pool_type plain{S::options(40, 100)};
  instrumented<typename S::pool_type> blocks{S::options(40, 100)};
  CHECK(blocks.block_size() == plain.block_size());
  CHECK(blocks.stride_bytes() == plain.stride_bytes());
  CHECK(blocks.alignment() == plain.alignment());
  CHECK(blocks.capacity() == plain.capacity());
  CHECK(blocks.chunk_count() == plain.chunk_count());
  CHECK(blocks.reserved_bytes() == plain.reserved_bytes());
  CHECK(blocks.budget_bytes() - plain.budget_bytes() == sizeof(blocks) - sizeof(plain));
  void* const block = blocks.allocate();
  CHECK(blocks.contains(block));
  CHECK_FALSE(plain.contains(block));
}

TEST_CASE("the observer hears growth, refusal, exhaustion and the end, when they happen") {
  std::string log;
  heapwise::fake_blocks source;
  {
    instrumented<heapwise::pool<>, logger> blocks{
        {.block_size = 64, .block_count = 4, .growth = heapwise::growth::geometric},
        source,
        logger{&log}};
    CHECK(log.empty()); // the first chunk is not growth
    CHECK(drain(blocks, 4).size() == 4);
    CHECK(log.empty());
    static_cast<void>(blocks.allocate());
    CHECK(log == "growth ");
    CHECK(drain(blocks, 3).size() == 3);
    source.fail_after(0);
    CHECK(blocks.try_allocate() == nullptr);
    CHECK(log == "growth refused exhausted ");
  }
  CHECK(log == "growth refused exhausted destroyed(8) back back ");
  CHECK(source.pieces_out() == 0);
}

TEST_CASE("a pool that cannot be made says nothing") {
  std::string log;
  using pool = instrumented<heapwise::pool<>, logger>;
  CHECK_THROWS((pool{{.block_size = 0, .block_count = 4}, heapwise::os_blocks(), logger{&log}}));
  heapwise::fake_blocks source;
  source.fail_after(0);
  CHECK_THROWS((pool{{.block_size = 8, .block_count = 4}, source, logger{&log}}));
  CHECK(log.empty());
}

/// Hears only one thing.
struct exhaustion_only {
  int times = 0;
  void on_exhausted() noexcept { ++times; }
};

TEST_CASE("an observer may lack hooks, and is kept in the pool") {
  instrumented<heapwise::pool<>, exhaustion_only> blocks{{.block_size = 8, .block_count = 2}};
  CHECK(drain(blocks).size() == 2);
  CHECK(blocks.observer().times == 1);
}

/// For all threads.
struct shared_tally {
  std::atomic<std::uint64_t>* exhausted;
  std::atomic<std::uint64_t>* grown;
  void on_exhausted() noexcept { exhausted->fetch_add(1); }
  void on_growth(std::size_t) noexcept { grown->fetch_add(1); }
};

#define SHARED_SETTINGS                                                              \
  CONTRACT_SETTINGS_OF(heapwise::locked), CONTRACT_SETTINGS_OF(heapwise::lock_free), \
      CONTRACT_SETTINGS_OF(heapwise::thread_cached)

CONTRACT_TEST_CASE("all threads are counted, and the peak is never above the capacity", S,
                   SHARED_SETTINGS) {
  std::atomic<std::uint64_t> exhausted{0};
  std::atomic<std::uint64_t> grown{0};
  instrumented<typename S::pool_type, shared_tally> blocks{
      S::options(32, 64), heapwise::os_blocks(), shared_tally{&exhausted, &grown}};
  constexpr std::uint64_t rounds = 400;
  constexpr bool refuses = !S::checking::enabled; // foreign pointers, and does not abort
  std::vector<std::thread> threads;
  std::atomic<std::uint64_t> got{0};
  for (int n = 0; n < 4; ++n) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < rounds; ++i) {
        const std::vector<void*> mine = drain(blocks, 30); // 120 wanted, 64 there
        got.fetch_add(mine.size());
        for (void* const block : mine) blocks.deallocate(block);
        int elsewhere = 0;
        if (refuses) blocks.deallocate(&elsewhere);
      }
    });
  }
  for (std::thread& each : threads) each.join();
  const pool_counts counts = blocks.counts();
  CHECK(counts.allocations == got.load());
  CHECK(counts.frees == got.load());
  CHECK(counts.refused_frees == (refuses ? 4 * rounds : 0));
  CHECK(counts.failed_allocations == exhausted.load());
  CHECK(counts.live == 0);
  CHECK(counts.peak >= 30);
  CHECK(counts.peak <= 64);
  if (S::how == heapwise::growth::geometric) CHECK(grown.load() >= 1);
}

// Plain numbers where one thread counts, atomic ones where many do.
static_assert(sizeof(heapwise::detail::counter<false>) == sizeof(std::uint64_t));
static_assert(std::is_trivially_copyable_v<heapwise::detail::counter<false>>);
static_assert(!std::is_copy_constructible_v<heapwise::detail::counter<true>>);

} // namespace
