#include <heapwise/detail/cache_registry.hpp>

#include <algorithm>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::detail::cache_table;
using heapwise::detail::cached_pool;
using heapwise::detail::this_thread_caches;

/// Records which caches were retired; knows which tables it is in.
class recorder final : public cached_pool {
 public:
  recorder() noexcept { list(); }
  ~recorder() { unlist(); }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  void retire(void* cache) noexcept override { retired.push_back(cache); }
  void forget_all() noexcept override {
    for (cache_table* const each : holders) each->forget(*this);
  }
  void lock_for_fork() noexcept override {}
  void unlock_after_fork() noexcept override {}
  void lose_caches(const cache_table*) noexcept override { holders.clear(); }
  void enter(void* cache) {
    REQUIRE(enter_cache(cache));
    holders.push_back(&this_thread_caches);
  }

  std::vector<void*> retired{};
  std::vector<cache_table*> holders{};
};

TEST_CASE("a thread finds its own caches, by slot") {
  recorder one;
  recorder two;
  int cache = 0;
  int other_cache = 0;
  CHECK(one.slot() != two.slot());
  CHECK(one.find_at_home() == nullptr);
  one.enter(&cache);
  two.enter(&other_cache);
  CHECK(one.find_at_home() == &cache);
  CHECK(two.find_at_home() == &other_cache);
  std::thread{[&] { CHECK(one.find_at_home() == nullptr); }}.join();
}

TEST_CASE("slots of living pools differ, and the slot of a dead one is used again, and is empty") {
  std::vector<std::unique_ptr<recorder>> pools;
  std::set<std::size_t> slots;
  for (int i = 0; i < 2000; ++i) { // more than the first size of a table
    pools.push_back(std::make_unique<recorder>());
    slots.insert(pools.back()->slot());
    pools.back()->enter(&pools);
  }
  CHECK(slots.size() == 2000);
  for (const auto& each : pools) CHECK(each->find_at_home() == &pools);
  for (const std::size_t index : {7u, 700u}) { // a near place and a far one
    std::unique_ptr<recorder>& place = pools[index];
    const std::size_t freed = place->slot();
    std::destroy_at(place.get());
    std::construct_at(place.get()); // a pool of the same address and slot
    CHECK(place->slot() == freed);
    CHECK(place->find_at_home() == nullptr);
    CHECK(place->find_cache() == nullptr);
  }
}

TEST_CASE("a slot leads to the cache of its own pool only") {
  recorder one;
  recorder two;
  int cache = 0;
  one.enter(&cache);
  // As code of another copy sees it: the slot of a pool of the first copy, another pool.
  CHECK(this_thread_caches.find_near(&one, one.slot()) == &cache);
  CHECK(this_thread_caches.find_near(&two, one.slot()) == nullptr);
}

TEST_CASE("a thread that exits is retired from all living pools, once") {
  recorder living;
  int cache = 0;
  std::thread{[&] {
    auto passing = std::make_unique<recorder>();
    passing->enter(&living);
    living.enter(&cache);
    passing.reset();
    CHECK(living.retired.empty());
  }}.join();
  living.holders.clear();
  REQUIRE(living.retired.size() == 1);
  CHECK(living.retired.front() == &cache);
}

TEST_CASE("a thread that never had a cache is not retired") {
  recorder living;
  std::thread{[&] { CHECK(living.thread_may_cache()); }}.join();
  CHECK(living.retired.empty());
}

/// Made before the first cache, so destroyed after the thread was retired.
struct late {
  recorder* pool = nullptr;
  bool* refused = nullptr;
  ~late() {
    if (pool == nullptr) return;
    *refused =
        !pool->thread_may_cache() && !pool->enter_cache(pool) && pool->find_at_home() == nullptr;
  }
};

TEST_CASE("after it was retired a thread gets no cache any more") {
  recorder living;
  bool refused = false;
  std::thread{[&] {
    static thread_local late last;
    last.refused = &refused;
    last.pool = &living;
    living.enter(&refused);
  }}.join();
  living.holders.clear();
  CHECK(refused);
}

} // namespace
