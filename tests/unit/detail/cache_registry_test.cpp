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
using heapwise::detail::enter_cache;
using heapwise::detail::thread_may_cache;
using heapwise::detail::this_thread_caches;

/// Writes down who was retired; knows which tables it is in.
class recorder final : public cached_pool {
 public:
  recorder() noexcept { list(); }
  ~recorder() { unlist(); }
  recorder(const recorder&) = delete;
  recorder& operator=(const recorder&) = delete;

  void retire(const cache_table* thread) noexcept override {
    retired.push_back(thread);
    std::erase(holders, thread);
  }
  void forget_all() noexcept override {
    for (cache_table* const each : holders) each->forget(slot());
  }
  void enter(void* cache) {
    REQUIRE(enter_cache(slot(), cache));
    holders.push_back(&this_thread_caches);
  }

  std::vector<const cache_table*> retired{};
  std::vector<cache_table*> holders{};
};

TEST_CASE("a thread finds its own caches, by slot") {
  recorder one;
  recorder two;
  int cache = 0;
  int other_cache = 0;
  CHECK(one.slot() != two.slot());
  CHECK(this_thread_caches.find(one.slot()) == nullptr);
  one.enter(&cache);
  two.enter(&other_cache);
  CHECK(this_thread_caches.find(one.slot()) == &cache);
  CHECK(this_thread_caches.find(two.slot()) == &other_cache);
  std::thread{[&] { CHECK(this_thread_caches.find(one.slot()) == nullptr); }}.join();
}

TEST_CASE("slots of living pools differ; the slot of a dead one is used again, and is empty") {
  std::vector<std::unique_ptr<recorder>> pools;
  std::set<std::size_t> slots;
  for (int i = 0; i < 2000; ++i) {  // more than the first size of a table
    pools.push_back(std::make_unique<recorder>());
    slots.insert(pools.back()->slot());
    pools.back()->enter(&pools);
  }
  CHECK(slots.size() == 2000);
  for (const auto& each : pools) CHECK(this_thread_caches.find(each->slot()) == &pools);
  const std::size_t freed = pools[700]->slot();
  pools[700].reset();
  CHECK(this_thread_caches.find(freed) == nullptr);
  const recorder heir;
  CHECK(heir.slot() == freed);
}

TEST_CASE("a thread that exits is retired from all living pools, once") {
  recorder living;
  const cache_table* table = nullptr;
  std::thread{[&] {
    auto passing = std::make_unique<recorder>();
    passing->enter(&table);
    living.enter(&table);
    table = &this_thread_caches;
    CHECK(living.retired.empty());
  }}.join();
  REQUIRE(living.retired.size() == 1);
  CHECK(living.retired.front() == table);
}

TEST_CASE("a thread that never had a cache is not retired") {
  recorder living;
  std::thread{[&] { CHECK(thread_may_cache()); }}.join();
  CHECK(living.retired.empty());
}

/// Made before the first cache, so destroyed after the thread was retired.
struct late {
  recorder* pool = nullptr;
  bool* refused = nullptr;
  ~late() {
    if (pool == nullptr) return;
    *refused = !thread_may_cache() && !enter_cache(pool->slot(), pool) &&
               this_thread_caches.find(pool->slot()) == nullptr;
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
  CHECK(refused);
}

}  // namespace
