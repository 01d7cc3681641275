#include "heap/base/shards.hpp"

#include <barrier>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap/base/options.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

/// Effects: as on a machine with many processors, from now on.
void start_with_shards() {
  start_without_clock();
  the_options.shards = 8;
  choose_shards();
  REQUIRE(possible_shards() == 8);
}

TEST_CASE("a thread keeps its shard, and one that comes when it has gone gets the same") {
  start_with_shards();
  const std::size_t own = own_shard();
  const std::size_t before = shard_count();
  for (int thread = 0; thread < 20; ++thread) {
    stress::on_threads(1, [&](std::size_t) {
      const std::size_t first = own_shard();
      CHECK(first != own);
      for (int i = 0; i < 1000; ++i) heapwise_free(heapwise_malloc(100));
      CHECK(own_shard() == first);
    });
  }
  CHECK(own_shard() == own);
  CHECK(shard_count() <= before + 1);
}

TEST_CASE("threads share a shard only if there are more threads than shards") {
  start_with_shards();
  constexpr std::size_t threads = 15; // and this one
  std::mutex lock;
  std::barrier<> all_have_one{threads};
  std::vector<std::size_t> threads_of(8);
  threads_of[own_shard()] = 1;
  stress::on_threads(threads, [&](std::size_t) {
    const std::size_t own = own_shard();
    all_have_one.arrive_and_wait();
    const std::lock_guard hold{lock};
    ++threads_of[own];
  });
  for (const std::size_t each : threads_of) CHECK(each == 2);
  CHECK(shard_count() == 8);
}

TEST_CASE("a thread takes an idle cache of another shard if its own shard has run out of them") {
  start_with_shards();
  std::vector<heap_cache*> held;
  while (idle_cache_count() != 0) held.push_back(adopt_cache());
  heap_cache* const waits = adopt_cache();
  const std::uint8_t shard = static_cast<thread_cache*>(waits)->shard;
  const std::size_t threads = thread_count();
  pass_on_cache(*waits);
  CHECK(thread_count() == threads - 1);
  CHECK(idle_cache_count() == 1);
  std::vector<std::uint8_t> joined; // as threads of that shard without a cache
  do joined.push_back(join_shard());
  while (joined.back() == shard);
  leave_shard(joined.back());
  heap_cache* const adopted = adopt_cache();
  CHECK(adopted == waits);
  CHECK(static_cast<thread_cache*>(adopted)->shard == joined.back());
  CHECK(thread_count() == threads);
  CHECK(idle_cache_count() == 0);
  joined.pop_back();
  for (const std::uint8_t each : joined) leave_shard(each);
  held.push_back(adopted);
  for (heap_cache* each : held) pass_on_cache(*each);
}

TEST_CASE("the caches that wait in all shards are as few as in one") {
  start_with_shards();
  std::vector<heap_cache*> held;
  for (int thread = 0; thread < 200; ++thread) held.push_back(adopt_cache());
  for (heap_cache* each : held) pass_on_cache(*each);
  CHECK(idle_cache_count() <= 8 + 64);
  CHECK(idle_cache_count() >= 8);
}

} // namespace
