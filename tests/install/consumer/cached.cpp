// A million pairs on a pool of a thousand blocks, then a thread that ends: its cache goes back.
#include <cstdio>
#include <heapwise/hybrid.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <thread>

namespace {

using cached = heapwise::pool<heapwise::thread_cached>;

long pairs(cached& blocks, long most) {
  for (long done = 0; done < most; ++done) {
    void* const block = blocks.try_allocate();
    if (block == nullptr) return done;
    blocks.deallocate(block);
  }
  return most;
}

std::size_t free_blocks(cached& blocks) {
  std::size_t count = 0;
  while (blocks.try_allocate() != nullptr) ++count;
  return count;
}

} // namespace

int main() {
  cached blocks{{.block_size = 64, .block_count = 1000}};
  std::printf("%ld pairs, ", pairs(blocks, 1'000'000));
  const std::size_t before = blocks.budget_bytes();
  for (int i = 0; i < 100; ++i) std::thread{[&] { pairs(blocks, 10); }}.join();
  std::printf("%s, ", blocks.budget_bytes() == before ? "no more caches" : "more caches");
  std::printf("%zu free, ", free_blocks(blocks));
  heapwise::hybrid<> mixed;
  for (int i = 0; i < 100'000; ++i) mixed.deallocate(mixed.allocate(64));
  std::printf("%zu KiB\n", mixed.statistics().reserved_bytes >> 10);
}
