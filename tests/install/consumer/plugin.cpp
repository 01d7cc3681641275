// A plug-in with a copy of the library of its own; another plug-in may use its pools.
#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>

using cached = heapwise::pool<heapwise::thread_cached>;

extern "C" {
cached* create(std::size_t block_size, std::size_t block_count) {
  return new cached{{.block_size = block_size, .block_count = block_count}};
}
void destroy(cached* blocks) { delete blocks; }
void* take(cached* blocks) { return blocks->try_allocate(); }
bool give(cached* blocks, void* block) { return blocks->deallocate(block); }
bool owns(cached* blocks, const void* block) { return blocks->contains(block); }
}
