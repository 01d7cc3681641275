// How often two threads that hand blocks on meet at the lock of their pool.
#include <cstddef>

namespace {
thread_local std::size_t points_passed = 0;
}
#define HEAPWISE_SCHEDULE_POINT() static_cast<void>(++points_passed)

#include <array>
#include <initializer_list>
#include <semaphore>
#include <thread>

#include <doctest/doctest.h>
#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>

namespace {

TEST_CASE("a consumer's blocks come back to the producer in batches, not one by one") {
  constexpr std::size_t batch = heapwise::thread_cached::batch_blocks;
  constexpr std::size_t warm_up = 10;
  constexpr std::size_t rounds = 100;
  for (const std::size_t block_size : std::initializer_list<std::size_t>{16, 32, 64, 256}) {
    CAPTURE(block_size);
    heapwise::pool<heapwise::thread_cached, heapwise::foreign_checked> pool{
        {.block_size = block_size, .block_count = 8192}};
    std::array<void*, batch> blocks{};
    std::binary_semaphore ready{0};
    std::binary_semaphore freed{0};
    std::thread consumer{[&] {
      for (std::size_t round = 0; round < warm_up + rounds; ++round) {
        ready.acquire();
        for (void* const block : blocks) pool.deallocate(block);
        freed.release();
      }
    }};
    std::size_t before = 0;
    for (std::size_t round = 0; round < warm_up + rounds; ++round) {
      if (round == warm_up) before = points_passed;
      for (void*& block : blocks) block = pool.try_allocate();
      ready.release();
      freed.acquire();
    }
    const std::size_t visits = points_passed - before;
    consumer.join();
    CHECK(visits <= rounds + 2);
  }
}

} // namespace
