// The heap with other threads let in anywhere: its sources are built once more with a call in each
// basic block, which yields as a seed says. HEAPWISE_STRESS_SEED runs one seed only.
#include "schedule.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap_blocks.hpp"
#include "threads.hpp"

namespace {

using stress::signed_block;

std::atomic<std::uint64_t> points{0};
thread_local std::uint32_t since_last = 0;

} // namespace

/// What the compiler calls in every basic block of the heap (-fsanitize-coverage=trace-pc).
extern "C" void __sanitizer_cov_trace_pc() {
  if (stress::dice == 0 || ++since_last % 8 != 0) return;
  points.fetch_add(1, std::memory_order_relaxed);
  stress::schedule_point();
}

namespace {

template <class Body>
void for_each_seed(std::size_t count, const Body& body) {
  if (const char* const only = std::getenv("HEAPWISE_STRESS_SEED"); only != nullptr) {
    body(std::stoull(only));
    return;
  }
  for (std::uint64_t seed = 1; seed <= stress::scaled(count); ++seed) {
    CAPTURE(seed);
    body(seed);
  }
}

/// Few places, so that threads meet at the same blocks and the same pages.
struct meeting_place {
  std::mutex lock;
  std::array<signed_block, 12> blocks{};

  signed_block exchange(std::size_t place, signed_block block) {
    const std::lock_guard hold{lock};
    return std::exchange(blocks[place % blocks.size()], block);
  }
  std::size_t empty(stress::random& draw) {
    std::size_t wrong = 0;
    for (signed_block& each : blocks)
      wrong += stress::free_block(std::exchange(each, {}), draw) ? 0 : 1;
    return wrong;
  }
};

TEST_CASE("the points are there") {
  stress::seed_schedule(1, 1);
  const std::uint64_t before = points;
  stress::random draw{1};
  REQUIRE(stress::churn_heap(draw, 200) == 0);
  stress::dice = 0;
  REQUIRE(points > before + 50);
}

TEST_CASE("blocks that cross, between threads that stay") {
  for_each_seed(150, [](std::uint64_t seed) {
    meeting_place place;
    std::atomic<std::size_t> wrong{0};
    stress::on_threads(3, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      stress::random draw{seed * 10 + me};
      for (int i = 0; i < 150; ++i) {
        const signed_block old = place.exchange(draw(), stress::make_block(draw));
        if (!stress::free_block(old, draw)) ++wrong;
      }
    });
    stress::random draw{seed};
    REQUIRE(wrong + place.empty(draw) == 0);
  });
}

TEST_CASE("threads that end while their blocks are freed and their caches taken over") {
  for_each_seed(100, [](std::uint64_t seed) {
    meeting_place place;
    std::atomic<std::size_t> wrong{0};
    stress::on_threads(3, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      stress::random draw{seed * 10 + me};
      for (int life = 0; life < 4; ++life) {
        std::thread{[&, life] {
          stress::seed_schedule(seed, me * 10 + static_cast<std::uint64_t>(life));
          for (int i = 0; i < 25; ++i) {
            const signed_block old = place.exchange(draw(), stress::make_block(draw));
            if (!stress::free_block(old, draw)) ++wrong;
          }
        }}.join();
      }
    });
    stress::random draw{seed};
    REQUIRE(wrong + place.empty(draw) == 0);
  });
}

TEST_CASE("batches of one size cross, spans fill and empty, pages are given back") {
  for_each_seed(100, [](std::uint64_t seed) {
    std::array<std::atomic<void**>, 3> sent{};
    std::atomic<std::size_t> wrong{0};
    constexpr std::size_t count = 300;
    stress::on_threads(3, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      stress::random draw{seed + me};
      const std::size_t size = 200 + seed % 7 * 400;
      for (int turn = 0; turn < 3; ++turn) {
        auto** blocks = static_cast<void**>(heapwise_malloc(count * sizeof(void*)));
        for (std::size_t i = 0; i < count; ++i) {
          blocks[i] = heapwise_malloc(size);
          std::memset(blocks[i], static_cast<int>(i), size);
        }
        if (draw.below(3) == 0) heapwise_malloc_purge();
        blocks = sent[(me + 1) % 3].exchange(blocks);
        for (std::size_t i = 0; blocks != nullptr && i < count; ++i) {
          const signed_block each{static_cast<std::byte*>(blocks[i]), size,
                                  static_cast<std::uint8_t>(i)};
          if (!stress::free_block(each, draw)) ++wrong;
        }
        heapwise_free(blocks);
      }
    });
    for (auto& each : sent) {
      void** const blocks = each;
      for (std::size_t i = 0; blocks != nullptr && i < count; ++i) heapwise_free(blocks[i]);
      heapwise_free(blocks);
    }
    REQUIRE(wrong == 0);
  });
}

TEST_CASE("slices change their class while their pages are given back") {
  for_each_seed(40, [](std::uint64_t seed) {
    std::atomic<std::size_t> wrong{0};
    stress::on_threads(3, [&](std::size_t me) {
      stress::seed_schedule(seed, me);
      stress::random draw{seed + me};
      for (int turn = 0; turn < 12; ++turn) {
        const std::size_t size = 600 + draw.below(8) * 900;
        std::vector<signed_block> blocks;
        for (std::size_t bytes = 0; bytes < 200'000; bytes += size) {
          const auto value = static_cast<std::uint8_t>(draw());
          auto* const block = static_cast<std::byte*>(heapwise_malloc(size));
          std::memset(block, value, size);
          blocks.push_back({block, size, value});
        }
        for (const signed_block& each : blocks) wrong += stress::free_block(each, draw) ? 0 : 1;
        heapwise_malloc_purge(); // all slices are free then, except for those of other threads
      }
    });
    REQUIRE(wrong == 0);
  });
}

} // namespace
