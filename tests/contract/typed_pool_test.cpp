// Objects instead of blocks.
#include <array>
#include <new>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "policies.hpp"

namespace {

/// Counts its objects; throws from its constructor when told to.
struct witness {
  static inline int alive = 0;
  explicit witness(int number, bool throws = false) : value{number} {
    if (throws) throw std::runtime_error{"witness"};
    ++alive;
  }
  ~witness() { --alive; }
  witness(const witness&) = delete;
  witness& operator=(const witness&) = delete;
  int value;
};

struct alignas(256) wide {
  std::array<char, 300> bytes;
};

CONTRACT_TEST_CASE("objects are made and destroyed in their blocks", S, CONTRACT_SETTINGS) {
  heapwise::typed_pool<witness, typename S::pool_type> objects{50};
  std::vector<witness*> mine;
  for (int i = 0; i < 50; ++i) mine.push_back(objects.construct(i));
  CHECK(witness::alive == 50);
  CHECK(objects.try_construct(1) == nullptr);
  CHECK_THROWS_AS(static_cast<void>(objects.construct(1)), std::bad_alloc);
  CHECK(witness::alive == 50);
  for (int i = 0; i < 50; ++i) CHECK(mine[static_cast<std::size_t>(i)]->value == i);
  for (witness* const each : mine) CHECK(objects.destroy(each));
  CHECK(witness::alive == 0);
}

CONTRACT_TEST_CASE("a constructor that throws gives its block back", S, CONTRACT_SETTINGS) {
  heapwise::typed_pool<witness, typename S::pool_type> objects{1};
  for (int i = 0; i < 100; ++i) {
    CHECK_THROWS_AS(static_cast<void>(objects.construct(1, true)), std::runtime_error);
    CHECK_THROWS_AS(static_cast<void>(objects.try_construct(1, true)), std::runtime_error);
  }
  CHECK(witness::alive == 0);
  witness* const last = objects.construct(7);
  CHECK(last->value == 7);
  CHECK(objects.destroy(last));
}

CONTRACT_TEST_CASE("an address that is not an object of the pool is refused and not destroyed", S,
                   CONTRACT_SETTINGS) {
  if (S::checking::enabled) return; // aborts: typed_checking_test
  heapwise::typed_pool<witness, typename S::pool_type> objects{4};
  witness elsewhere{1};
  CHECK_FALSE(objects.destroy(&elsewhere));
  CHECK(witness::alive == 1);
  CHECK(objects.destroy(nullptr));
}

CONTRACT_TEST_CASE("objects in an instrumented pool: each is counted once", S, CONTRACT_SETTINGS) {
  heapwise::typed_pool<witness, heapwise::instrumented<typename S::pool_type>> objects{
      {.block_count = 4, .growth = S::how, .max_block_count = 4}};
  witness* const one = objects.construct(1);
  witness* const two = objects.construct(2);
  CHECK_THROWS_AS(static_cast<void>(objects.construct(3, true)), std::runtime_error);
  CHECK(objects.destroy(one));
  CHECK(objects.destroy(two));
  CHECK(witness::alive == 0);
  const heapwise::pool_counts counts = objects.blocks().counts();
  CHECK(counts.allocations == 3);
  CHECK(counts.frees == 3);
  CHECK(counts.refused_frees == 0);
  CHECK(counts.live == 0);
}

TEST_CASE("a thread's access to a pool of objects") {
  using cached = heapwise::pool<heapwise::thread_cached, heapwise::foreign_checked>;
  heapwise::typed_pool<witness, cached> objects{100};
  auto mine = objects.local();
  witness* const object = mine.construct(7);
  CHECK(object->value == 7);
  CHECK(mine.destroy(object));
  CHECK_FALSE(mine.destroy(object)); // the one destroyed last
  CHECK(witness::alive == 0);
  CHECK(mine.try_construct(8) == object);
  CHECK(objects.destroy(object));
  witness elsewhere{1};
  CHECK_FALSE(mine.destroy(&elsewhere));
  CHECK(witness::alive == 1);
}

CONTRACT_TEST_CASE("over-aligned and owning types", S, CONTRACT_SETTINGS) {
  heapwise::typed_pool<wide, typename S::pool_type> aligned{8, heapwise::growth::geometric};
  for (int i = 0; i < 20; ++i) {
    CHECK(reinterpret_cast<std::uintptr_t>(aligned.construct()) % 256 == 0);
  }
  heapwise::typed_pool<std::string, typename S::pool_type> texts{8};
  std::string* const text = texts.construct(std::size_t{1000}, 'x');
  CHECK(text->size() == 1000);
  CHECK(texts.destroy(text)); // the sanitizer would see the leak
}

} // namespace
