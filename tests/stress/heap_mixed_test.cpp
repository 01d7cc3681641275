// Spans that become mixed ones under the hands of threads that use their blocks.
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap/base/options.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/central/bins.hpp"
#include "heap/central/mixed.hpp"
#include "heap/purge/purge.hpp"
#include "heap_blocks.hpp"
#include "threads.hpp"

namespace {

using namespace heapwise::detail;
using stress::signed_block;

/// Effects: as the heap does when much of it is holes: some spans become mixed ones.
void mix(stress::random& draw) {
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    if (class_table[class_index].slices == 1 && draw.below(3) == 0) {
      (void)the_bins[class_index].let_go_sparsest(class_index, 1);
    }
  }
}

/// Sizes that change with the phase, so that what was free for the old ones serves the new ones.
signed_block make_block_of_phase(stress::random& draw, std::size_t phase) {
  constexpr std::array<std::size_t, 5> base{16, 300, 40, 1500, 100};
  const std::size_t size = base[phase % base.size()] + draw.below(64);
  auto* const block = static_cast<std::byte*>(
      draw.below(6) == 0 ? heapwise_aligned_alloc(std::size_t{16} << draw.below(6), size)
                         : heapwise_malloc(size));
  signed_block result{block, size, static_cast<std::uint8_t>(draw())};
  std::memset(block, result.sign, size);
  return result;
}

void settle() {
  empty_own_cache();
  empty_idle_caches();
  for (int pass = 0; pass < 2; ++pass) {
    for (size_class class_index = 1; class_index <= class_count; ++class_index)
      the_bins[class_index].trim(class_index);
  }
}

TEST_CASE("spans are mixed while their blocks are freed, resized and made by all threads") {
  the_options.purge_thread = purge_threads::none;
  REQUIRE(start_heap());
  constexpr std::size_t threads = 4;
  std::array<std::vector<signed_block>, threads> survivors;
  std::atomic<std::size_t> wrong{0};
  std::atomic<std::size_t> most_mixed{0};
  for (std::size_t phase = 0; phase < stress::scaled(10); ++phase) {
    std::atomic<std::size_t> busy{threads};
    stress::on_threads(threads + 1, [&](std::size_t me) {
      stress::random draw{phase * 100 + me};
      if (me == threads) { // mixes and gives back while the others work
        while (busy > 0) {
          mix(draw);
          empty_idle_caches();
          for (size_class class_index = 1; class_index <= class_count; ++class_index)
            the_bins[class_index].trim(class_index);
          if (draw.below(8) == 0) purge_everything();
          if (the_mixed_spans.count() > most_mixed) most_mixed = the_mixed_spans.count();
        }
        return;
      }
      // Those of another thread: blocks cross while their spans change.
      std::vector<signed_block> mine = std::exchange(survivors[(me + phase) % threads], {});
      for (std::size_t i = 0; i < 4'000; ++i) {
        mine.push_back(make_block_of_phase(draw, phase));
        std::swap(mine[draw.below(mine.size())], mine.back());
        if (draw.below(20) == 0 && !stress::resize_block(mine.back(), draw)) ++wrong;
        if (draw.below(100) < 45) {
          if (!stress::free_block(mine.back(), draw)) ++wrong;
          mine.pop_back();
        }
      }
      std::vector<signed_block> kept;
      for (const signed_block& each : mine) {
        if (draw.below(4) == 0) {
          kept.push_back(each);
        } else if (!stress::free_block(each, draw)) {
          ++wrong;
        }
      }
      survivors[(me + phase) % threads] = std::move(kept);
      --busy;
    });
    REQUIRE(wrong == 0);
  }
  CHECK(most_mixed > 0);
  stress::random draw{1};
  for (const auto& each : survivors) {
    for (const signed_block& block : each) CHECK(stress::free_block(block, draw));
  }
  settle();
  CHECK(the_mixed_spans.count() == 0);
  CHECK(the_mixed_spans.free_bytes() == 0);
}

} // namespace
