#include "drain/rings/loser_tree.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

using namespace heapwise::bench;

namespace {

constexpr std::uint64_t none = loser_tree::no_order;
constexpr std::uint64_t some_order = std::uint64_t{1} << 51;

/// The number of the least order; of equal ones the least number.
std::size_t least_of(const std::vector<std::uint64_t>& orders) {
  return static_cast<std::size_t>(std::ranges::min_element(orders) - orders.begin());
}

} // namespace

TEST_CASE("a tree of one ring ends with the last call of it") {
  loser_tree tree;
  tree.build({1000}, 1000);
  const std::uint64_t limit = tree.limit_of(UINT64_MAX);
  CHECK(tree.first() == 0);
  CHECK(tree.first_is_within(limit));
  CHECK_FALSE(tree.first_is_within(tree.limit_of(1000) - (1U << 12)));
  CHECK(tree.last_order_of_first() > some_order);
  tree.replace_first(none);
  CHECK_FALSE(tree.first_is_within(limit));
}

TEST_CASE("the first is the least of any number of orders, also if one goes back or ends") {
  std::mt19937_64 random{1};
  for (std::size_t count = 1; count != 70; ++count) {
    std::vector<std::uint64_t> orders(count);
    for (std::uint64_t& each : orders) each = some_order + random() % 100;
    loser_tree tree;
    tree.build(orders, std::ranges::min(orders));
    const std::uint64_t limit = tree.limit_of(UINT64_MAX);
    for (int step = 0; step != 2000 && tree.first_is_within(limit); ++step) {
      const std::size_t first = least_of(orders);
      REQUIRE(tree.first() == first);
      // With its last order it stays the first, with the next one it does not.
      const std::uint64_t last = tree.last_order_of_first();
      orders[first] = last;
      CHECK(least_of(orders) == first);
      if (last < some_order + 10'000) {
        orders[first] = last + 1;
        CHECK(least_of(orders) != first);
      }
      const std::uint64_t chosen = random() % 64;
      orders[first] = chosen == 0 ? none : last - 20 + random() % 60;
      if (count == 1 && chosen != 0) orders[first] = some_order + chosen;
      tree.replace_first(orders[first]);
    }
    if (std::ranges::count(orders, none) == static_cast<std::ptrdiff_t>(count)) {
      CHECK_FALSE(tree.first_is_within(limit));
    }
  }
}

TEST_CASE("orders that are too far away are not within any limit") {
  constexpr std::uint64_t far = std::uint64_t{1} << 60;
  loser_tree tree;
  tree.build({far, 500, none}, 500);
  const std::uint64_t limit = tree.limit_of(UINT64_MAX);
  CHECK(tree.first() == 1);
  tree.replace_first(far);
  CHECK_FALSE(tree.first_is_within(limit));
}

TEST_CASE("a limit holds the calls with its order and none behind it") {
  loser_tree tree;
  tree.build({7, 8, 9}, 7);
  const std::uint64_t limit = tree.limit_of(8);
  CHECK(tree.first_is_within(limit));
  tree.replace_first(10);
  CHECK(tree.first() == 1);
  CHECK(tree.first_is_within(limit));
  tree.replace_first(11);
  CHECK(tree.first() == 2);
  CHECK_FALSE(tree.first_is_within(limit));
}
