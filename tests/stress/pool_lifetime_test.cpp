// Pools that come and go while threads come and go.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/heapwise.hpp>

#include "threads.hpp"

namespace {

using cached = heapwise::pool<heapwise::thread_cached>;

void use(cached& blocks) {
  std::vector<void*> mine;
  for (int i = 0; i < 100; ++i) mine.push_back(blocks.allocate());
  for (void* const block : mine) blocks.deallocate(block);
}

TEST_CASE("pools are created and destroyed while threads that hold caches exit") {
  const heapwise::pool_options options{.block_size = 32, .block_count = 1000};
  const std::size_t rounds = stress::scaled(400);
  cached survivor{{.block_size = 32, .block_count = 4000}};
  stress::on_threads(4, [&](std::size_t index) {
    for (std::size_t i = 0; i < rounds; ++i) {
      if (index % 2 == 0) {
        cached passing{options};
        use(passing);
      } else {
        std::thread{[&] { use(survivor); }}.join();
      }
    }
  });
  std::size_t left = 0;
  while (survivor.try_allocate() != nullptr) ++left;
  CHECK(left == 4000);
}

TEST_CASE("a pool is destroyed while other threads hold caches of it") {
  const std::size_t rounds = stress::scaled(300);
  for (std::size_t i = 0; i < rounds; ++i) {
    heapwise::fake_blocks source;
    auto doomed = std::make_unique<cached>(
        heapwise::pool_options{.block_size = 24, .block_count = 2000}, source);
    std::barrier<> used{4};
    std::barrier<> ends{4};
    stress::on_threads(4, [&](std::size_t index) {
      use(*doomed);
      used.arrive_and_wait();
      if (index == 0) doomed.reset();
      ends.arrive_and_wait();
      // The slot of the dead pool goes to one of these: it must not find the old cache there.
      cached next{{.block_size = 48, .block_count = 500}};
      use(next);
    });
    REQUIRE(source.pieces_out() == 0);
  }
}

TEST_CASE("several threads create, share and destroy pools in a loop") {
  const std::size_t rounds = stress::scaled(100);
  stress::on_threads(4, [&](std::size_t seed) {
    stress::random draw{seed};
    std::vector<std::unique_ptr<cached>> alive;
    for (std::size_t i = 0; i < rounds; ++i) {
      alive.push_back(std::make_unique<cached>(
          heapwise::pool_options{.block_size = 16 + 8 * draw.below(8), .block_count = 700}));
      use(*alive.back());
      std::thread{[&] {
        for (auto& each : alive) use(*each);
      }}.join();
      if (alive.size() > 40) alive.erase(alive.begin() + static_cast<long>(draw.below(40)));
    }
    for (auto& each : alive) {
      std::size_t left = 0;
      while (each->try_allocate() != nullptr) ++left;
      REQUIRE(left == 700);
    }
  });
}

/// Its destructor runs after the thread's caches were retired: thread-local objects are destroyed
/// in the reverse order of their construction, and this one is made before the first allocation.
struct late {
  cached* from = nullptr;
  std::vector<void*> blocks{};
  ~late() {
    for (void* const block : blocks) from->deallocate(block);
    if (from == nullptr) return;
    void* const block = from->allocate();
    from->deallocate(block);
  }
};

TEST_CASE("blocks are freed and allocated after the thread's cache was retired") {
  cached blocks{{.block_size = 40, .block_count = 1000}};
  const std::size_t rounds = stress::scaled(200);
  stress::on_threads(4, [&](std::size_t) {
    for (std::size_t i = 0; i < rounds; ++i) {
      std::thread{[&] {
        static thread_local late last;
        last.from = &blocks;
        for (int n = 0; n < 150; ++n) last.blocks.push_back(blocks.allocate());
      }}.join();
    }
  });
  std::size_t left = 0;
  while (blocks.try_allocate() != nullptr) ++left;
  CHECK(left == 1000);
}

TEST_CASE("a thousand short threads leave blocks to later threads") {
  cached blocks{{.block_size = 64, .block_count = 64, .growth = heapwise::growth::geometric}};
  std::vector<void*> inherited;
  const std::size_t threads = stress::scaled(1000);
  for (std::size_t i = 0; i < threads; ++i) {
    std::thread{[&] {
      for (int n = 0; n < 20; ++n) inherited.push_back(blocks.allocate());
      for (int n = 0; n < 19; ++n) {
        REQUIRE(blocks.deallocate(inherited[inherited.size() - 1]));
        inherited.pop_back();
      }
    }}.join();
  }
  CHECK(inherited.size() == threads);
  CHECK(blocks.capacity() < 2 * threads + 256); // nothing was lost to threads that are gone
  for (void* const block : inherited) CHECK(blocks.deallocate(block));
}

} // namespace
