// Each path of each pool, a number of times. Callgrind counts the instructions below heapwise_once
// and writes those of each path into a file of their own, which names the path.
// usage: pool_paths COUNT
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include <valgrind/callgrind.h>

#include <heapwise/pool.hpp>
#include <heapwise/thread/lock_free.hpp>
#include <heapwise/thread/locked.hpp>
#include <heapwise/thread/thread_cached.hpp>
#include <heapwise/thread/unsynchronized.hpp>

namespace {

using heapwise::pool;

constexpr std::size_t pool_blocks = 65'536;

/// Keeps the compiler from knowing what a block is, or that it is not used.
void* seen(void* block) {
  asm volatile("" : "+r"(block) : : "memory");
  return block;
}

template <class Policy, std::size_t block_size>
pool<Policy>& whole() {
  static pool<Policy> blocks{{.block_size = block_size, .block_count = pool_blocks}};
  return blocks;
}

/// What a path uses: a pool, or a thread's access to one that was looked up before.
template <class Policy, std::size_t block_size>
struct by_pool {
  static auto& blocks() { return whole<Policy, block_size>(); }
};
template <class Policy, std::size_t block_size>
struct by_handle {
  static auto& blocks() {
    static auto mine = whole<Policy, block_size>().local();
    return mine;
  }
};

template <class Access>
void pair() {
  auto& blocks = Access::blocks();
  blocks.deallocate(seen(blocks.try_allocate()));
}

template <class Access>
void batch() {
  auto& blocks = Access::blocks();
  std::array<void*, 64> taken;
  const std::size_t count = blocks.try_allocate_many(taken);
  seen(taken.data());
  blocks.deallocate_many({taken.data(), count});
}

template <class Access, std::size_t count>
void up_and_down() {
  auto& blocks = Access::blocks();
  static std::array<void*, count> taken;
  for (void*& each : taken) each = seen(blocks.try_allocate());
  for (auto each = taken.rbegin(); each != taken.rend(); ++each) blocks.deallocate(*each);
}

struct path {
  std::string name;
  void (*once)();
};

template <class Access>
void add(std::vector<path>& all, const std::string& subject) {
  all.push_back({subject + ": pair", pair<Access>});
  if constexpr (requires(void* const* some) { Access::blocks().deallocate_many({some, 1}); }) {
    all.push_back({subject + ": 64 at once", batch<Access>});
  }
  all.push_back({subject + ": 64 up and down", up_and_down<Access, 64>});
  all.push_back({subject + ": 1000 up and down", up_and_down<Access, 1000>});
}

template <std::size_t block_size>
void add_size(std::vector<path>& all) {
  const std::string size = " " + std::to_string(block_size);
  add<by_pool<heapwise::unsynchronized, block_size>>(all, "unsynchronized" + size);
  add<by_pool<heapwise::locked, block_size>>(all, "locked" + size);
  add<by_pool<heapwise::lock_free, block_size>>(all, "lock_free" + size);
  add<by_pool<heapwise::thread_cached, block_size>>(all, "thread_cached" + size);
  add<by_handle<heapwise::thread_cached, block_size>>(all, "thread_cached by handle" + size);
}

} // namespace

extern "C" [[gnu::noinline]] void heapwise_once(void (*once)()) { once(); }

int main(int argc, char** argv) {
  std::vector<path> all;
  add_size<16>(all);
  add_size<64>(all);
  const long times = argc == 2 ? std::atol(argv[1]) : 0;
  for (const path& each : all) {
    // Chunks, caches and addresses of functions are there before anything is counted.
    for (long left = times; left > 0; --left) heapwise_once(each.once);
    CALLGRIND_ZERO_STATS;
    for (long left = times; left > 0; --left) heapwise_once(each.once);
    CALLGRIND_DUMP_STATS_AT(each.name.c_str());
  }
}
