#include "heap/cache/spare_batch.hpp"

#include <atomic>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"
#include "heap/surroundings.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t size = 64;
constexpr size_class of_64 = static_cast<size_class>(class_of(size));

TEST_CASE("a spare batch leaves when it was seen often enough, and not if it was exchanged") {
  batch some{};
  for (unsigned looks = 0; looks <= spare_batch::most_looks; ++looks) {
    CAPTURE(looks);
    spare_batch spare;
    CHECK(spare.take_if_old(looks).held == nullptr);
    spare.put({.held = &some, .is_full = true});
    for (unsigned look = 0; look < looks; ++look) CHECK(spare.take_if_old(looks).held == nullptr);
    CHECK(spare.is_full());
    const spare_batch::content exchanged = spare.take(); // a look before the last one
    CHECK(exchanged.held == &some);
    CHECK(exchanged.is_full);
    spare.put({.held = &some});
    for (unsigned look = 0; look < looks; ++look) CHECK(spare.take_if_old(looks).held == nullptr);
    const spare_batch::content old = spare.take_if_old(looks);
    CHECK(old.held == &some);
    CHECK(!old.is_full);
    CHECK(spare.take().held == nullptr);
  }
}

TEST_CASE("of an owner and a clock that want a spare batch at the same time, one gets it") {
  batch some{};
  spare_batch spare;
  std::atomic<bool> done{false};
  std::atomic<int> taken_away{0};
  std::thread clock{[&] {
    while (!done) {
      const spare_batch::content old = spare.take_if_old(0);
      if (old.held == nullptr) continue;
      if (old.held != &some || old.is_full != (old.held->next == nullptr)) std::abort();
      ++taken_away;
    }
  }};
  // Until both have had it often: the clock's thread may not run yet, or not beside this one.
  constexpr int often = 5'000;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{1};
  int kept = 0;
  int round = 0;
  while (kept < often || taken_away < often) {
    const int before = taken_away;
    some.next = round % 2 == 0 ? nullptr : &some;
    spare.put({.held = &some, .is_full = round % 2 == 0});
    for (int looks = 0; looks < round % 64 && taken_away == before; ++looks) continue;
    if (spare.take().held != nullptr) {
      ++kept;
    } else {
      while (taken_away == before) std::this_thread::yield();
    }
    if (++round % 64 != 0) continue;
    if (std::chrono::steady_clock::now() > end) break;
    std::this_thread::yield();
  }
  done = true;
  clock.join();
  CHECK(kept + taken_away == round);
}

/// Effects: the calling thread has a spare batch of the class that is full.
void fill_spare() {
  std::vector<void*> blocks;
  for (int i = 0; i < 1'000; ++i) blocks.push_back(heapwise_malloc(size));
  for (void* each : blocks) heapwise_free(each);
}

TEST_CASE("a thread that waits loses its spare batches, and one that works keeps them") {
  start_without_clock();
  bring_everything_home();
  release_old_spares(0); // of threads of other tests
  const std::size_t spares_before = spare_bytes();
  std::barrier<> step{2};
  std::size_t cached_after = 0;
  std::thread waiting{[&] {
    fill_spare();
    step.arrive_and_wait(); // it waits
    step.arrive_and_wait();
    cached_after = own_cached_bytes();
    fill_spare(); // it can go on
    empty_own_cache();
  }};
  fill_spare();
  step.arrive_and_wait();
  const std::size_t batch = class_table[of_64].batch * size;
  CHECK(own_cached_bytes() > batch);
  CHECK(spare_bytes() == spares_before + 2 * batch);
  for (int tick = 0; tick < 2; ++tick) {
    release_old_spares(2);
    fill_spare();
  }
  CHECK(spare_bytes() == spares_before + 2 * batch);
  release_old_spares(2);
  CHECK(own_cached_bytes() > batch);
  CHECK(spare_bytes() == spares_before + batch);
  step.arrive_and_wait();
  waiting.join();
  CHECK(cached_after <= batch);
  release_old_spares(0);
  CHECK(own_cached_bytes() <= batch);
  CHECK(spare_bytes() == spares_before);
  bring_everything_home();
  CHECK(the_bins[of_64].free_blocks() % class_table[of_64].blocks == 0);
}

} // namespace
