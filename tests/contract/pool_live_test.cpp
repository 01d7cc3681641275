// The blocks that are out, found by the pool: visited, numbered, and the memory behind them kept.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.hpp"
#include "policies.hpp"

namespace {

using contract::drain;
using heapwise::fake_blocks;
using heapwise::growth;

template <class Pool>
std::set<void*> live_in(Pool& blocks) {
  std::set<void*> live;
  REQUIRE(blocks.for_each([&](void* block) { REQUIRE(live.insert(block).second); }));
  return live;
}

CONTRACT_TEST_CASE("for_each finds what is out, whatever was freed in which order", S,
                   CONTRACT_SETTINGS) {
  for (const std::size_t size : {std::size_t{8}, std::size_t{16}, std::size_t{64}}) {
    typename S::pool_type blocks{S::options(size, 3000)};
    CHECK(live_in(blocks).empty());
    std::vector<void*> out;
    std::uint64_t random = 1;
    for (int i = 0; i < 20'000; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      const bool fills = (i / 2500) % 2 == 0;
      if ((random >> 33) % 8 < (fills ? 6u : 2u)) {
        if (void* const block = blocks.try_allocate(); block != nullptr) out.push_back(block);
      } else if (!out.empty()) {
        std::swap(out[(random >> 40) % out.size()], out.back());
        REQUIRE(blocks.deallocate(out.back()));
        out.pop_back();
      }
      if (i % 2500 == 0) REQUIRE(live_in(blocks) == std::set<void*>{out.begin(), out.end()});
    }
    // The block that is visited may be freed.
    REQUIRE(blocks.for_each([&](void* block) { REQUIRE(blocks.deallocate(block)); }));
    CHECK(live_in(blocks).empty());
    CHECK(drain(blocks).size() == 3000);
    CHECK(live_in(blocks).size() == 3000);
  }
}

TEST_CASE_TEMPLATE("blocks in the caches of other threads are free", Policy, heapwise::locked,
                   heapwise::lock_free, heapwise::thread_cached) {
  heapwise::pool<Policy, heapwise::checked> blocks{{.block_size = 24, .block_count = 10'000}};
  std::vector<void*> kept;
  std::thread other{[&] {
    std::vector<void*> mine = drain(blocks, 3000);
    for (std::size_t i = 0; i < 2000; ++i) blocks.deallocate(mine[i]);
    kept.assign(mine.begin() + 2000, mine.end());
  }};
  other.join();
  std::thread still_there{[&] {
    std::vector<void*> mine = drain(blocks, 1000);
    for (void* const each : mine) blocks.deallocate(each);
    CHECK(live_in(blocks) == std::set<void*>{kept.begin(), kept.end()});
    CHECK(blocks.shrink());
    CHECK(drain(blocks).size() == 9000);
  }};
  still_there.join();
}

CONTRACT_TEST_CASE("without memory for the bits nothing is visited", S, CONTRACT_SETTINGS) {
  fake_blocks source;
  typename S::pool_type blocks{S::options(64, 100), source};
  static_cast<void>(blocks.allocate());
  source.fail_after(0);
  CHECK_FALSE(blocks.for_each([](void*) { FAIL("visited"); }));
  CHECK_FALSE(blocks.shrink());
  source.fail_after(static_cast<std::size_t>(-1));
  CHECK(live_in(blocks).size() == 1);
  CHECK(source.pieces_out() >= 1);
}

CONTRACT_TEST_CASE("shrink gives empty chunks back, and every block is still there once", S,
                   CONTRACT_SETTINGS) {
  fake_blocks source;
  typename S::pool_type blocks{S::options(64, 4000), source};
  std::vector<void*> all = drain(blocks);
  const std::size_t reserved = blocks.reserved_bytes();
  const std::size_t chunk_count = blocks.chunk_count();
  CHECK(blocks.shrink()); // nothing is free
  CHECK(blocks.chunk_count() == chunk_count);
  CHECK(blocks.try_allocate() == nullptr);
  std::sort(all.begin(), all.end(), [&](void* one, void* other) {
    return blocks.handle_of(one) < blocks.handle_of(other);
  });
  // Every third block of the first 900 stays out.
  std::vector<void*> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (i < 900 && i % 3 == 0) {
      out.push_back(all[i]);
    } else {
      REQUIRE(blocks.deallocate(all[i]));
    }
  }
  REQUIRE(blocks.shrink());
  CHECK(live_in(blocks) == std::set<void*>{out.begin(), out.end()});
  if (S::how == growth::geometric) {
    CHECK(blocks.chunk_count() == 1);
    CHECK(blocks.capacity() == 1000);
    CHECK(blocks.reserved_bytes() < reserved / 3);
  }
  for (void* const each : out) CHECK(blocks.contains(each));
  CHECK_FALSE(blocks.contains(all[950]));
  void* const first = blocks.allocate();
  void* const second = blocks.allocate();
  if (!std::is_same_v<typename S::policy, heapwise::thread_cached>) { // which takes a batch of them
    CHECK(first == all[1]);
    CHECK(second == all[2]);
  }
  out.push_back(first);
  out.push_back(second);
  const std::vector<void*> rest = drain(blocks);
  out.insert(out.end(), rest.begin(), rest.end());
  CHECK(out.size() == 4000);
  CHECK(std::set<void*>{out.begin(), out.end()}.size() == 4000);
  for (void* const each : out) CHECK(blocks.deallocate(each));
}

TEST_CASE("shrink gives chunks back to a buffer, time after time") {
  static std::array<std::byte, std::size_t{1} << 20> buffer;
  heapwise::static_blocks source{buffer.data(), buffer.size()};
  heapwise::pool<> blocks{
      {.block_size = 24, .block_count = 1000, .growth = heapwise::growth::linear}, source};
  const std::size_t remaining = source.remaining_bytes();
  for (int time = 0; time < 20; ++time) {
    std::vector<void*> out;
    for (int i = 0; i < 3000; ++i) out.push_back(blocks.try_allocate());
    REQUIRE(std::find(out.begin(), out.end(), nullptr) == out.end());
    for (void* const block : out) REQUIRE(blocks.deallocate(block));
    REQUIRE(blocks.shrink());
    REQUIRE(source.remaining_bytes() == remaining);
  }
}

TEST_CASE("shrink notices a corrupted link of a checked pool") {
  heapwise::pool<heapwise::lock_free, heapwise::checked> blocks{
      {.block_size = 64, .block_count = 10}};
  auto* const one = static_cast<std::byte*>(blocks.allocate());
  blocks.deallocate(blocks.allocate());
  blocks.deallocate(one);
  const contract::ending how = contract::in_child([&] {
    one[3] ^= std::byte{0x44};
    blocks.shrink();
  });
  CHECK(how.signal == SIGABRT);
  CHECK(how.error.find("corrupted link in a free block") != std::string::npos);
  CHECK(blocks.shrink());
}

/// Returns: how many of these blocks are in memory; those whose memory is gone are not. Not the
/// resident size of the process: sanitizers keep memory of their own for each block.
std::size_t count_resident(const std::vector<void*>& blocks) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  return static_cast<std::size_t>(std::count_if(blocks.begin(), blocks.end(), [&](void* block) {
    const std::uintptr_t address = reinterpret_cast<std::uintptr_t>(block) / page * page;
    unsigned char state = 0;
    return mincore(reinterpret_cast<void*>(address), page, &state) == 0 && (state & 1) != 0;
  }));
}

CONTRACT_TEST_CASE("after reset and shrink a pool touches nothing", S, CONTRACT_SETTINGS) {
  typename S::pool_type blocks{S::options(4096, 5000)};
  const std::vector<void*> all = drain(blocks);
  for (void* const each : all) std::fill_n(static_cast<char*>(each), 4096, 'x');
  CHECK(count_resident(all) == 5000);
  blocks.reset();
  CHECK(blocks.shrink());
  CHECK(count_resident(all) < 500);
  CHECK(drain(blocks).size() == 5000);
}

CONTRACT_TEST_CASE("a handle stands for its block, also after growth", S, CONTRACT_SETTINGS) {
  using pool_type = typename S::pool_type;
  pool_type blocks{S::options(40, 500)};
  std::vector<void*> out = drain(blocks, 20);
  std::vector<typename pool_type::handle> handles;
  for (void* const each : out) handles.push_back(blocks.handle_of(each));
  CHECK(drain(blocks).size() == 480);
  static_assert(sizeof(handles[0]) == 4);
  for (std::size_t i = 0; i < out.size(); ++i) {
    CHECK(blocks.block_of(handles[i]) == out[i]);
    CHECK(blocks.handle_of(out[i]) == handles[i]);
  }
  CHECK(std::set<std::uint32_t>{handles.begin(), handles.end()}.size() == 20);
  int elsewhere = 0;
  CHECK(blocks.handle_of(&elsewhere) == pool_type::no_handle);
  CHECK(blocks.handle_of(nullptr) == pool_type::no_handle);
}

CONTRACT_TEST_CASE("clear destroys each object once", S, CONTRACT_SETTINGS) {
  static int ended;
  struct owner {
    ~owner() { ++ended; }
    std::string text = std::string(100, 'x');
  };
  ended = 0;
  heapwise::typed_pool<owner, typename S::pool_type> owners{S::options(0, 300)};
  for (int round = 1; round <= 3; ++round) {
    std::vector<owner*> out;
    for (int i = 0; i < 300; ++i) out.push_back(owners.construct());
    for (int i = 0; i < 100; ++i) CHECK(owners.destroy(out[static_cast<std::size_t>(3 * i)]));
    int seen = 0;
    CHECK(owners.for_each([&](const owner& each) { seen += each.text.size() == 100 ? 1 : 0; }));
    CHECK(seen == 200);
    CHECK(owners.object_of(owners.handle_of(out[1])) == out[1]);
    CHECK(owners.clear());
    CHECK(ended == 300 * round);
  }
  CHECK(owners.clear());
  CHECK(ended == 900);
}

TEST_CASE("a forked child does not know what was in other threads' caches") {
  heapwise::pool<heapwise::thread_cached> blocks{{.block_size = 64, .block_count = 1000}};
  std::atomic<int> step{0};
  std::thread other{[&] {
    blocks.deallocate(blocks.allocate());
    step = 1;
    while (step != 2) std::this_thread::yield();
  }};
  while (step != 1) std::this_thread::yield();
  const pid_t child = ::fork();
  if (child == 0) {
    if (blocks.for_each([](void*) {}) || blocks.shrink()) ::_exit(1);
    blocks.reset();
    ::_exit(blocks.for_each([](void*) {}) ? 0 : 2);
  }
  int status = 0;
  CHECK(::waitpid(child, &status, 0) == child);
  CHECK((WIFEXITED(status) && WEXITSTATUS(status) == 0));
  step = 2;
  other.join();
  CHECK(blocks.for_each([](void*) {}));
}

} // namespace
