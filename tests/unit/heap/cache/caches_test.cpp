#include "heap/cache/caches.hpp"
#include "heap/cache/idle_caches.hpp"

#include <algorithm>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <future>
#include <latch>
#include <numeric>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>
#include <pthread.h>
#include <heapwise/heap.hpp>

#include "contract/child.hpp"
#include "heap/base/shards.hpp"
#include "heap/cache/cache_stacks.hpp"
#include "heap/cache/thread_cache.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "stress/threads.hpp"

namespace {

using namespace heap_tests;

constexpr std::size_t size = 64;
constexpr size_class of_64 = static_cast<size_class>(class_of(size));

template <class Body>
void on_a_thread(const Body& body) {
  std::thread{body}.join();
}

TEST_CASE("a block freed last is handed out first, and none of them twice") {
  start_without_clock();
  std::vector<void*> blocks;
  for (int i = 0; i < 5; ++i) blocks.push_back(heapwise_malloc(size));
  CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == blocks.size());
  for (void* each : blocks) heapwise_free(each);
  for (std::size_t at = blocks.size(); at > 0; --at) {
    CHECK(heapwise_malloc(size) == blocks[at - 1]);
  }
  for (void* each : blocks) heapwise_free(each);
}

TEST_CASE("the next thread has what the one before it left in its cache") {
  start_without_clock();
  std::vector<void*> left;
  on_a_thread([&] {
    std::vector<void*> blocks; // so many that the class has a batch
    for (int i = 0; i < 200; ++i) blocks.push_back(heapwise_malloc(size));
    for (void* each : blocks) heapwise_free(each);
    for (int i = 0; i < 20; ++i) left.push_back(heapwise_malloc(size));
    for (void* each : left) heapwise_free(each);
  });
  on_a_thread([&] {
    for (std::size_t at = left.size(); at > 0; --at) {
      CHECK(heapwise_malloc(size) == left[at - 1]);
    }
    for (void* each : left) heapwise_free(each);
  });
}

TEST_CASE("blocks of idle caches serve all threads once the caches are emptied") {
  start_without_clock();
  bring_everything_home();
  CHECK(own_cached_bytes() == 0);
  const std::size_t threads = thread_count();
  const std::size_t used = the_space.used_bytes();
  on_a_thread([&] {
    std::vector<void*> blocks;
    for (int i = 0; i < 10'000; ++i) blocks.push_back(heapwise_malloc(size));
    CHECK(thread_count() == threads + 1);
    for (void* each : blocks) heapwise_free(each);
  });
  CHECK(thread_count() == threads);
  bring_everything_home();
  CHECK(the_space.used_bytes() <= used + slice_bytes); // the spare span
}

TEST_CASE("many threads that end at once leave few full caches") {
  start_without_clock();
  bring_everything_home();
  const auto free_in_bin = [] { // whole batches wait for the next thread
    const bin_figures figures = the_bins[of_64].figures(of_64);
    return figures.free_blocks + figures.stocked_blocks;
  };
  const std::size_t free_before = free_in_bin();
  std::barrier<> all{12};
  std::array<std::size_t, 12> cached{};
  stress::on_threads(12, [&](std::size_t me) {
    std::vector<void*> blocks;
    for (int i = 0; i < 200; ++i) blocks.push_back(heapwise_malloc(size));
    for (void* each : blocks) heapwise_free(each);
    cached[me] = own_cached_bytes();
    all.arrive_and_wait();
  });
  CHECK(free_in_bin() >= free_before);
  std::sort(cached.begin(), cached.end());
  CHECK(cached.front() > 0);
  // Of eight threads at most.
  CHECK(idle_cached_bytes() <= std::accumulate(cached.begin() + 4, cached.end(), std::size_t{0}));
  bring_everything_home();
  CHECK(the_bins[of_64].figures(of_64).stocked_blocks == 0);
  CHECK(the_bins[of_64].free_blocks() % class_table[of_64].blocks == 0);
}

TEST_CASE("a cache holds two batches and passes on the one that was freed first") {
  start_without_clock();
  bring_everything_home();
  const std::size_t batch = class_table[of_64].batch;
  std::vector<std::byte*> blocks;
  while (blocks.size() < 2 * batch + 1 || own_cached_bytes() > 0) {
    blocks.push_back(static_cast<std::byte*>(heapwise_malloc(size)));
  }
  const std::size_t flushes = the_bins[of_64].figures(of_64).flushes;
  for (std::size_t i = 0; i < 2 * batch; ++i) heapwise_free(blocks[i]);
  CHECK(the_bins[of_64].figures(of_64).flushes == flushes);
  CHECK(own_cached_bytes() == 2 * batch * size);
  heapwise_free(blocks[2 * batch]);
  CHECK(the_bins[of_64].figures(of_64).flushes == flushes + 1);
  CHECK(own_cached_bytes() == (batch + 1) * size);
  on_a_thread([&] {
    const std::set<void*> passed_on(blocks.begin(),
                                    blocks.begin() + static_cast<std::ptrdiff_t>(batch));
    std::vector<void*> taken;
    for (std::size_t i = 0; i < 2 * batch; ++i) taken.push_back(heapwise_malloc(size));
    CHECK(std::count_if(taken.begin(), taken.end(), [&](void* each) {
            return passed_on.contains(each);
          }) == static_cast<std::ptrdiff_t>(batch));
    for (void* each : taken) heapwise_free(each);
  });
  for (std::size_t i = 2 * batch + 1; i < blocks.size(); ++i) heapwise_free(blocks[i]);
  bring_everything_home();
}

TEST_CASE("a thread that does little keeps few blocks, and one that does much keeps two batches") {
  start_without_clock();
  bring_everything_home();
  std::size_t asked = 0;
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    asked += class_table[class_index].bytes;
    heapwise_free(heapwise_malloc(class_table[class_index].bytes));
    CAPTURE(class_index);
    CHECK(own_cached_bytes() <= asked);
  }
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    CAPTURE(class_index);
    const std::size_t bytes = class_table[class_index].bytes;
    const std::size_t batch = class_table[class_index].batch;
    std::vector<void*> blocks;
    for (int round = 0; round < 30; ++round) {
      blocks.clear();
      for (std::size_t i = 0; i < 500; ++i) blocks.push_back(heapwise_malloc(bytes));
      const std::set<void*> distinct(blocks.begin(), blocks.end());
      CHECK(distinct.size() == blocks.size());
      for (void* each : blocks) heapwise_free(each);
    }
    CHECK(own_cached_bytes() >= batch * bytes);
    CHECK(own_cached_bytes() <= 2 * batch * bytes + asked);
    empty_own_cache();
    CHECK(own_cached_bytes() == 0);
  }
  bring_everything_home();
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    CHECK(the_bins[class_index].free_blocks() % class_table[class_index].blocks == 0);
  }
}

TEST_CASE("a class that needs its bin now and then uses a part of its batch, later all of it") {
  start_without_clock();
  for (const std::size_t bytes : {std::size_t{256}, std::size_t{1024}, std::size_t{2048}}) {
    CAPTURE(bytes);
    bring_everything_home();
    const auto of_bytes = static_cast<size_class>(class_of(bytes));
    const std::size_t part = first_batches::places(of_bytes) * bytes;
    const std::size_t whole = class_table[of_bytes].batch * bytes;
    std::vector<void*> blocks;
    std::size_t rounds = 0;
    std::size_t most = 0;
    for (; most <= part && rounds < 1'000; ++rounds) {
      for (std::size_t i = 0; i < 2 * class_table[of_bytes].batch; ++i) {
        blocks.push_back(heapwise_malloc(bytes));
      }
      CHECK(std::set<void*>(blocks.begin(), blocks.end()).size() == blocks.size());
      for (void* each : blocks) heapwise_free(each);
      blocks.clear();
      most = std::max(most, own_cached_bytes());
    }
    CHECK(rounds > 2);
    CHECK(rounds < 1'000);
    CHECK(most <= 2 * whole);
  }
  bring_everything_home();
}

/// Effects: uses each class so often that it gets a batch if that is up to the class alone.
void use_all_classes() {
  std::array<void*, 100> blocks{};
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const std::size_t bytes = class_table[class_index].bytes;
    for (void*& each : blocks) each = heapwise_malloc(bytes);
    for (void* each : blocks) heapwise_free(each);
  }
}

/// Threads that wait after they have used all classes. The first one ends by itself.
class crowd {
 public:
  ~crowd() {
    for (std::latch* each : {&end_of_first_, &end_}) {
      if (!each->try_wait()) each->count_down();
    }
    for (std::thread& each : threads_) {
      if (each.joinable()) each.join();
    }
  }

  /// Returns: the bytes that another thread keeps.
  std::size_t begin_thread() {
    std::promise<std::size_t> kept;
    std::future<std::size_t> known = kept.get_future();
    std::latch& own_end = threads_.empty() ? end_of_first_ : end_;
    threads_.emplace_back([kept = std::move(kept), &own_end]() mutable {
      use_all_classes();
      kept.set_value(own_cached_bytes());
      own_end.wait();
    });
    return known.get();
  }
  /// Effects: the cache of the first thread is idle.
  void end_first() {
    end_of_first_.count_down();
    threads_.front().join();
  }
  /// Effects: there are enough threads that the next one keeps little.
  void fill() {
    constexpr std::size_t most_threads = 2'000;
    const std::size_t usual = usual_room * possible_shards();
    while (room_in_caches() <= usual && threads_.size() < most_threads) begin_thread();
    REQUIRE(room_in_caches() > usual);
  }
  /// Requires: this is a forked child, in which these are the last threads.
  void end_last(std::size_t count) {
    end_.count_down();
    for (std::thread& each : std::span{threads_}.last(count)) each.join();
  }

 private:
  std::latch end_{1};
  std::latch end_of_first_{1};
  std::vector<std::thread> threads_;
};

/// Returns: what a thread of a crowd keeps at most.
std::size_t most_in_crowd() {
  std::size_t most = std::size_t{128} << 10; // four batches, for 4,000 refusals
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    most += short_stacks::most_places(class_index) * class_table[class_index].bytes;
  }
  return most;
}

TEST_CASE("in a crowd a thread keeps little, and one that asks often gets a batch") {
  start_without_clock();
  bring_everything_home();
  const std::size_t before = room_in_caches();
  {
    crowd threads;
    CHECK(threads.begin_thread() > most_in_crowd());
    threads.fill();
    CHECK(threads.begin_thread() <= most_in_crowd());
    on_a_thread([] {
      const std::size_t whole = class_table[of_64].batch * size;
      std::vector<void*> blocks(2 * class_table[of_64].batch);
      std::size_t rounds = 0;
      for (; own_cached_bytes() < whole && rounds < 10'000; ++rounds) {
        for (void*& each : blocks) each = heapwise_malloc(size);
        for (void* each : blocks) heapwise_free(each);
      }
      CHECK(rounds > 5);
      CHECK(own_cached_bytes() >= whole);
    });
  }
  bring_everything_home();
  CHECK(room_in_caches() <= before);
}

TEST_CASE("a child forked by a crowd is alone") {
  start_without_clock();
  bring_everything_home();
  const std::size_t before = room_in_caches();
  use_all_classes();
  crowd threads;
  threads.begin_thread();
  const std::size_t of_two = room_in_caches();
  threads.fill();
  threads.end_first();
  const contract::ending child = contract::in_child([&] {
    contract::exit_unless(room_in_caches() <= of_two, 2); // the caches of threads are lost
    threads.begin_thread();                               // has the idle one
    contract::exit_unless(threads.begin_thread() > most_in_crowd(), 3);
    threads.end_last(2);
    bring_everything_home();
    // Nothing is taken off that was not counted: the sum would be larger than any other.
    contract::exit_unless(room_in_caches() <= before, 4);
  });
  CHECK(child.exit_code == 0);
}

TEST_CASE("a thread that says that it waits keeps nothing, and can go on") {
  start_without_clock();
  bring_everything_home();
  const std::size_t used = the_space.used_bytes();
  on_a_thread([&] {
    for (int round = 0; round < 3; ++round) {
      std::vector<void*> blocks;
      for (int i = 0; i < 1'000; ++i) blocks.push_back(heapwise_malloc(size));
      for (void* each : blocks) heapwise_free(each);
      heapwise::deallocate(heapwise::allocate(size), size); // in the place of inlined code
      CHECK(own_cached_bytes() > 0);
      heapwise_thread_idle();
      CHECK(own_cached_bytes() == 0);
      heapwise_thread_idle();
    }
    for (size_class class_index = 1; class_index <= class_count; ++class_index)
      the_bins[class_index].trim(class_index);
    for (size_class class_index = 1; class_index <= class_count; ++class_index)
      the_bins[class_index].trim(class_index);
    CHECK(the_space.used_bytes() <= used + slice_bytes); // the spare span
  });
  bring_everything_home();
}

TEST_CASE("a thread that never allocated can say that it waits, and so can one that ends") {
  start_without_clock();
  const std::size_t threads = thread_count();
  on_a_thread([&] {
    heapwise_thread_idle();
    CHECK(thread_count() == threads);
  });
  pthread_key_t key{};
  REQUIRE(pthread_key_create(&key, [](void* block) {
            heapwise_free(block);
            heapwise_thread_idle();
          }) == 0);
  on_a_thread([&] { pthread_setspecific(key, heapwise_malloc(size)); });
  pthread_key_delete(key);
  bring_everything_home();
}

/// Frees what it is handed when its thread is as good as gone.
struct late {
  ~late() {
    for (void* each : blocks) heapwise_free(each);
    void* const more = heapwise_malloc(size);
    if (more == nullptr) std::abort();
    std::memset(more, 1, size);
    heapwise_free(more);
  }
  std::vector<void*> blocks;
};

pthread_key_t late_key;

TEST_CASE("blocks can be freed and made until the very end of a thread, and are not lost") {
  start_without_clock();
  bring_everything_home();
  const std::size_t used = the_space.used_bytes();
  // Destructors of keys run in an unspecified order, and again for values set by others.
  REQUIRE(pthread_key_create(&late_key, [](void* blocks) {
            static thread_local int rounds = 0;
            if (++rounds < 3) {
              pthread_setspecific(late_key, blocks);
            } else {
              delete static_cast<late*>(blocks);
            }
          }) == 0);
  for (int round = 0; round < 5; ++round) {
    on_a_thread([] {
      static thread_local late with_thread;
      auto* const with_key = new late;
      pthread_setspecific(late_key, with_key);
      for (int i = 0; i < 500; ++i) {
        with_thread.blocks.push_back(heapwise_malloc(size));
        with_key->blocks.push_back(heapwise_malloc(size));
      }
    });
  }
  pthread_key_delete(late_key);
  bring_everything_home();
  CHECK(the_space.used_bytes() <= used + slice_bytes);
}

TEST_CASE("a block freed twice in a row is seen at once, others when they leave the cache") {
  start_without_clock();
  void* const block = heapwise_malloc(size);
  void* const other = heapwise_malloc(size);
  const contract::ending at_once = contract::in_child([&] {
    heapwise_free(block);
    heapwise_free(block);
  });
  CHECK(at_once.signal == SIGABRT);
  CHECK(at_once.error.find("it was freed before") != std::string::npos);
  const contract::ending later = contract::in_child([&] {
    heapwise_free(block);
    heapwise_free(other);
    heapwise_free(block);
    empty_own_cache();
  });
  CHECK(later.signal == SIGABRT);
  const contract::ending by_another_thread = contract::in_child([&] {
    heapwise_free(block);
    on_a_thread([&] { heapwise_free(block); });
    bring_everything_home();
  });
  CHECK(by_another_thread.signal == SIGABRT);
  heapwise_free(block);
  heapwise_free(other);
}

TEST_CASE("threads that pass blocks on neither lose nor share one") {
  start_without_clock();
  bring_everything_home();
  constexpr std::size_t threads = 4;
  std::vector<std::vector<void*>> blocks(threads);
  stress::on_threads(threads, [&](std::size_t me) {
    for (int i = 0; i < 3'000; ++i) {
      blocks[me].push_back(heapwise_malloc(size));
      std::memset(blocks[me].back(), static_cast<int>(me), size);
    }
  });
  std::set<void*> distinct;
  for (const auto& each : blocks) distinct.insert(each.begin(), each.end());
  CHECK(distinct.size() == threads * 3'000);
  stress::on_threads(threads, [&](std::size_t me) {
    for (void* each : blocks[(me + 1) % threads]) heapwise_free(each);
  });
  bring_everything_home();
  CHECK(the_bins[of_64].free_blocks() % class_table[of_64].blocks == 0);
}

} // namespace
