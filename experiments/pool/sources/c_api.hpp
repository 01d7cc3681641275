// Heapwise's pool behind its functions for C: each call goes through the library.
#pragma once

#include <heapwise/pool.h>

#include <new>

#include "sources/demand.hpp"

namespace pools {

template <heapwise_policy policy>
class c_api {
 public:
  explicit c_api(const demand& wanted) : pool_{create(wanted)} {
    if (pool_ == nullptr) throw std::bad_alloc{};
  }
  c_api(const c_api&) = delete;
  c_api& operator=(const c_api&) = delete;
  ~c_api() { heapwise_pool_destroy(pool_); }

  void* allocate() { return heapwise_pool_allocate(pool_); }
  void deallocate(void* block) { heapwise_pool_deallocate(pool_, block); }

 private:
  static heapwise_pool* create(const demand& wanted) {
    heapwise_pool_options options = HEAPWISE_POOL_OPTIONS_INIT;
    options.block_size = wanted.block_size;
    options.block_count = wanted.at_start();
    options.growth = wanted.growing ? HEAPWISE_GROWTH_GEOMETRIC : HEAPWISE_GROWTH_FIXED;
    return heapwise_pool_create(&options, policy);
  }

  heapwise_pool* pool_;
};

} // namespace pools
