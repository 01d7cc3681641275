// Heapwise's pool under each of its policies.
#pragma once

#include <utility>

#include <heapwise/pool.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/mutex.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

#include "sources/demand.hpp"

namespace pools {

template <class Policy>
class ours {
 public:
  explicit ours(const demand& wanted)
      : pool_{{.block_size = wanted.block_size,
               .block_count = wanted.at_start(),
               .growth = wanted.growing ? heapwise::growth::geometric : heapwise::growth::fixed}} {}

  void* allocate() { return pool_.try_allocate(); }
  void deallocate(void* block) { pool_.deallocate(block); }

  /// The calling thread's own way in, of the policies that have one.
  auto local_source() { return local{pool_}; }

 private:
  class local {
   public:
    explicit local(heapwise::pool<Policy>& pool) : handle_{pool.local()} {}

    void* allocate() { return handle_.try_allocate(); }
    void deallocate(void* block) { handle_.deallocate(block); }

   private:
    decltype(std::declval<heapwise::pool<Policy>&>().local()) handle_;
  };

  heapwise::pool<Policy> pool_;
};

}  // namespace pools
