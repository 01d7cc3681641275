// The first requests to a node_pool, from several threads at once.
#include <heapwise/adapt/node_pool.hpp>

#include <array>
#include <atomic>
#include <list>

#include <doctest/doctest.h>
#include <heapwise/adapt/std_allocator.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>

#include "threads.hpp"

namespace {

TEST_CASE_TEMPLATE("one of several first requests makes the pool, all of them use it", Policy,
                   heapwise::locked, heapwise::lock_free, heapwise::thread_cached) {
  using nodes_type = heapwise::node_pool<Policy>;
  constexpr std::size_t threads = 4;
  constexpr std::size_t nodes_each = 20;
  for (std::size_t round = stress::scaled(200); round > 0; --round) {
    nodes_type nodes{{.block_count = 4096}};
    std::atomic<std::size_t> from_pool{0};
    stress::on_threads(threads, [&](std::size_t) {
      heapwise::std_allocator<long, nodes_type> longs{nodes};
      std::array<long*, nodes_each> mine;
      for (long*& each : mine) *(each = longs.allocate(1)) = 7;
      for (long* const each : mine) from_pool += nodes.contains(each) ? 1 : 0;
      for (long* const each : mine) longs.deallocate(each, 1);
    });
    REQUIRE(from_pool == threads * nodes_each);
    REQUIRE(nodes.blocks()->chunk_count() == 1);
  }
}

} // namespace
