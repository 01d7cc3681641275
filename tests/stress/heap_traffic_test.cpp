// Blocks on their way between threads: made here, freed there, by threads that live and that end.
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap_blocks.hpp"
#include "threads.hpp"

namespace {

using stress::signed_block;

/// Places that hold a block each, with a lock each: what crosses is ordered by it and by the heap.
class transfer_buffer {
 public:
  signed_block exchange(std::size_t place, signed_block block) {
    const std::lock_guard hold{locks_[place % size]};
    return std::exchange(blocks_[place % size], block);
  }
  static constexpr std::size_t size = 1000;

 private:
  std::array<std::mutex, size> locks_;
  std::array<signed_block, size> blocks_;
};

std::size_t empty(transfer_buffer& buffer, std::size_t step) {
  stress::random draw{step};
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < transfer_buffer::size; i += step) {
    wrong += stress::free_block(buffer.exchange(i, {}), draw) ? 0 : 1;
  }
  return wrong;
}

TEST_CASE("producers and consumers: one to one, one to many, many to one") {
  struct shape {
    std::size_t producers, consumers;
  };
  for (const shape each : {shape{1, 1}, shape{1, 4}, shape{4, 1}, shape{4, 4}}) {
    CAPTURE(each.producers);
    CAPTURE(each.consumers);
    transfer_buffer buffer;
    std::atomic<std::size_t> wrong{0};
    std::atomic<std::size_t> producing{each.producers};
    stress::on_threads(each.producers + each.consumers, [&](std::size_t me) {
      stress::random draw{me + 1};
      if (me < each.producers) {
        for (std::size_t i = 0; i < stress::scaled(8'000); ++i) {
          const signed_block old = buffer.exchange(draw.below(400), stress::make_block(draw));
          if (!stress::free_block(old, draw)) ++wrong;
        }
        --producing;
        return;
      }
      while (producing > 0) {
        if (!stress::free_block(buffer.exchange(draw.below(400), {}), draw)) ++wrong;
      }
    });
    REQUIRE(wrong + empty(buffer, 1) == 0);
  }
}

TEST_CASE("threads end and begin again while half of what they made stays") {
  for (const std::size_t steps : {200u, 1'000u, 4'000u}) {
    CAPTURE(steps);
    transfer_buffer buffer;
    std::atomic<std::size_t> wrong{0};
    for (std::size_t round = 0; round < stress::scaled(6); ++round) {
      stress::on_threads(6, [&](std::size_t me) {
        stress::random draw{round * 100 + me};
        for (std::size_t i = 0; i < steps; ++i) {
          if (draw.below(3) != 0) {
            if (stress::churn_heap(draw, 2, 2) != 0) ++wrong;
            continue;
          }
          const signed_block old =
              buffer.exchange(draw.below(transfer_buffer::size), stress::make_block(draw));
          if (!stress::free_block(old, draw)) ++wrong;
        }
      });
      REQUIRE(wrong + empty(buffer, 2) == 0);
    }
    REQUIRE(empty(buffer, 1) == 0);
  }
}

TEST_CASE("many allocate, one only frees") {
  constexpr std::size_t producers = 16;
  transfer_buffer buffer;
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> producing{producers};
  stress::on_threads(producers + 1, [&](std::size_t me) {
    stress::random draw{me + 7};
    if (me == producers) {
      for (std::size_t i = 0; producing > 0; ++i) {
        if (!stress::free_block(buffer.exchange(i, {}), draw)) ++wrong;
      }
      return;
    }
    for (std::size_t i = 0; i < stress::scaled(2'500); ++i) {
      signed_block new_block = stress::make_block(draw);
      for (std::size_t place = draw.below(1'000); new_block.bytes != nullptr; ++place) {
        new_block =
            buffer.exchange(place, new_block); // what is full is passed on, never freed here
      }
    }
    --producing;
  });
  REQUIRE(wrong + empty(buffer, 1) == 0);
}

TEST_CASE(
    "heaps of their own, one for each thread, and blocks freed by others, the rest with the heap") {
  transfer_buffer buffer;
  std::atomic<std::size_t> wrong{0};
  for (std::size_t round = 0; round < stress::scaled(10); ++round) {
    std::atomic<std::size_t> sent{0};
    stress::on_threads(4, [&](std::size_t me) {
      stress::random draw{round * 10 + me};
      heapwise_heap* const heap = heapwise_heap_create();
      if (heap == nullptr) std::abort();
      std::vector<signed_block> mine;
      for (std::size_t i = 0; i < 800; ++i) {
        const std::size_t size = 1 + draw.below(3'000);
        auto* const bytes = static_cast<std::byte*>(heapwise_heap_malloc(heap, size));
        if (bytes == nullptr) std::abort();
        std::memset(bytes, static_cast<int>(me), size);
        mine.push_back({bytes, size, static_cast<std::uint8_t>(me)});
      }
      for (std::size_t i = 0; i < 200; ++i) {
        buffer.exchange(me * 200 + i, mine.back());
        mine.pop_back();
      }
      // All have sent; each frees a neighbour's; all have freed; the heaps go.
      ++sent;
      while (sent < 4) std::this_thread::yield();
      for (std::size_t i = 0; i < 200; ++i) {
        if (!stress::free_block(buffer.exchange((me + 1) % 4 * 200 + i, {}), draw)) ++wrong;
      }
      ++sent;
      while (sent < 8) std::this_thread::yield();
      for (const signed_block& each : mine) wrong += each.is_intact() ? 0 : 1;
      heapwise_heap_destroy(heap);
      if (stress::churn_heap(draw, 200) != 0) ++wrong;
    });
    REQUIRE(wrong == 0);
  }
}

} // namespace
