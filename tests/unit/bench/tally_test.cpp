#include "probe/tally.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using namespace heapwise::bench;

TEST_CASE("sizes fall into powers of two, the power itself included") {
  CHECK(size_bucket(0) == 0);
  CHECK(size_bucket(1) == 0);
  CHECK(size_bucket(2) == 1);
  CHECK(size_bucket(3) == 2);
  CHECK(size_bucket(4) == 2);
  CHECK(size_bucket(64) == 6);
  CHECK(size_bucket(65) == 7);
  CHECK(size_bucket(SIZE_MAX) == 64);
}

TEST_CASE("the peak of live bytes is that of all threads together") {
  static tally counts;
  counts.change_live(100'000);
  std::thread{[] { counts.change_live(200'000); }}.join();
  counts.change_live(-100'000);
  CHECK(counts.sum().peak_live == 300'000);

  SUBCASE("small changes are not lost") {
    for (int i = 0; i < 1000; ++i) counts.change_live(1000);
    for (int i = 0; i < 1000; ++i) counts.change_live(-1000);
    CHECK(counts.sum().peak_live > 1'200'000 - 16 * 1024);
    CHECK(counts.sum().peak_live <= 1'200'000);
  }
  counts.clear();
  CHECK(counts.sum().peak_live == 200'000); // what lives goes on living in a forked child
  counts.change_live(-200'000);
  counts.clear();
  CHECK(counts.sum().peak_live == 0);
}

TEST_CASE("no call is lost between many threads") {
  static tally counts;
  constexpr int threads = 40; // more than there are shards
  constexpr int each = 10'000;
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) {
    running.emplace_back([] {
      for (int n = 0; n < each; ++n) {
        counts.count(tally::call::malloc, 64);
        counts.count(tally::call::free);
      }
    });
  }
  for (auto& thread : running) thread.join();
  const totals all = counts.sum();
  CHECK(all.malloc == threads * each);
  CHECK(all.free == threads * each);
  CHECK(all.calloc == 0);
  CHECK(all.bytes_requested == std::uint64_t{threads} * each * 64);
  CHECK(all.sizes[6] == threads * each);
  counts.clear();
  CHECK(counts.sum().malloc == 0);
}
