// boost::pool, unordered, alone and behind a std::mutex.
//
// optional: BOOST_POOL = package Boost target Boost::headers
#pragma once

#include "sources/chunk_memory.hpp"
#include "sources/demand.hpp"

#if defined(HEAPWISE_HAS_BOOST_POOL)
#include <boost/pool/pool.hpp>

namespace pools {

class boost_blocks {
 public:
  /// Boost obtains and cuts its first chunk at the first allocation.
  explicit boost_blocks(const demand& wanted) : pool_{wanted.block_size, wanted.at_start()} {}

  [[gnu::always_inline]] void* allocate() { return pool_.malloc(); }
  [[gnu::always_inline]] void deallocate(void* block) { pool_.free(block); }

 private:
  boost::pool<boost_chunks> pool_;
};

} // namespace pools
#endif
