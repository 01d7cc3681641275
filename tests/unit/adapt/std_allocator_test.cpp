#include <heapwise/adapt/std_allocator.hpp>

#include <array>
#include <forward_list>
#include <limits>
#include <list>
#include <map>
#include <memory>
#include <new>
#include <set>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/observe/instrumented.hpp>
#include <heapwise/pool.hpp>
#include <heapwise/thread/thread_cached.hpp>

namespace {

using heapwise::node_size_bytes;
using heapwise::pool_options;
using counted = heapwise::instrumented<heapwise::pool<>>;
template <class T>
using allocator = heapwise::std_allocator<T, counted>;

pool_options blocks_of(std::size_t block_size, std::size_t count = 1000) {
  return {.block_size = block_size, .block_count = count};
}

static_assert(
    std::is_same_v<std::allocator_traits<allocator<int>>::rebind_alloc<char>, allocator<char>>);
static_assert(!std::allocator_traits<allocator<int>>::is_always_equal::value);
static_assert(std::is_nothrow_copy_constructible_v<allocator<int>>);

TEST_CASE_TEMPLATE("every node of a container comes from the pool, and goes back", Container,
                   std::list<int, allocator<int>>, std::forward_list<char, allocator<char>>,
                   std::set<std::string, std::less<>, allocator<std::string>>,
                   std::list<std::array<char, 61>, allocator<std::array<char, 61>>>) {
  using value = typename Container::value_type;
  counted pool{blocks_of(node_size_bytes<value>())};
  {
    Container container{allocator<value>{pool}};
    for (int i = 0; i < 100; ++i) {
      if constexpr (requires { container.push_front(value{}); }) {
        container.push_front(value{});
      } else {
        container.insert(std::to_string(i));
      }
    }
    CHECK(pool.counts().live == 100);
  }
  CHECK(pool.counts().live == 0);
  CHECK(pool.counts().refused_frees == 0);
}

TEST_CASE("maps: nodes from the pool, the table of buckets from operator new") {
  using pair = std::pair<const int, std::string>;
  counted pool{blocks_of(node_size_bytes<pair>())};
  {
    std::map<int, std::string, std::less<>, allocator<pair>> tree{allocator<pair>{pool}};
    std::unordered_map<int, std::string, std::hash<int>, std::equal_to<>, allocator<pair>> table{
        allocator<pair>{pool}};
    for (int i = 0; i < 200; ++i) {
      tree[i] = std::to_string(i);
      table[i] = std::to_string(i);
    }
    CHECK(pool.counts().live == 400);
    for (int i = 0; i < 200; i += 2) {
      tree.erase(i);
      table.erase(i);
    }
    CHECK(pool.counts().live == 200);
    CHECK(tree.at(7) == "7");
    CHECK(table.at(7) == "7");
  }
  CHECK(pool.counts().live == 0);
  CHECK(pool.counts().refused_frees == 0);
}

TEST_CASE("a request that does not fit comes from operator new, and is told from one that does") {
  counted pool{blocks_of(48)};
  allocator<std::array<char, 49>> larger{pool};
  struct alignas(32) over_aligned {
    char bytes[32];
  };
  allocator<over_aligned> aligned{pool};
  allocator<long> fitting{pool};
  CHECK_FALSE(larger.uses_pool());
  CHECK_FALSE(aligned.uses_pool());
  CHECK(fitting.uses_pool());
  larger.deallocate(larger.allocate(1), 1);
  over_aligned* const one = aligned.allocate(1);
  CHECK(reinterpret_cast<std::uintptr_t>(one) % 32 == 0);
  aligned.deallocate(one, 1);
  fitting.deallocate(fitting.allocate(2), 2); // an array
  CHECK(pool.counts().allocations == 0);
  fitting.deallocate(fitting.allocate(1), 1);
  CHECK(pool.counts().allocations == 1);
  CHECK(pool.counts().live == 0);
}

TEST_CASE("a vector works, from operator new") {
  counted pool{blocks_of(64)};
  std::vector<int, allocator<int>> numbers{allocator<int>{pool}};
  for (int i = 0; i < 1000; ++i) numbers.push_back(i);
  CHECK(numbers[999] == 999);
}

TEST_CASE("exhaustion and absurd sizes are std::bad_alloc") {
  counted pool{blocks_of(node_size_bytes<int>(), 3)};
  std::list<int, allocator<int>> numbers{allocator<int>{pool}};
  for (int i = 0; i < 3; ++i) numbers.push_back(i);
  CHECK_THROWS_AS(numbers.push_back(3), std::bad_alloc);
  CHECK(numbers.size() == 3);
  allocator<long> longs{pool};
  CHECK_THROWS_AS(static_cast<void>(longs.allocate(std::numeric_limits<std::size_t>::max() / 4)),
                  std::bad_array_new_length);
}

TEST_CASE_TEMPLATE("an allocator that spills: operator new serves while the pool is exhausted",
                   Pool, heapwise::pool<heapwise::unsynchronized, heapwise::trusting>,
                   heapwise::pool<heapwise::unsynchronized, heapwise::foreign_checked>,
                   heapwise::pool<heapwise::unsynchronized, heapwise::checked>, counted) {
  using spilling = heapwise::std_allocator<int, Pool, heapwise::when_exhausted::spills>;
  Pool pool{blocks_of(node_size_bytes<int>(), 3)};
  std::list<int, spilling> numbers{spilling{pool}};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) numbers.push_back(i);
    CHECK(pool.try_allocate() == nullptr);
    numbers.clear(); // the sanitizer would see what went to the wrong place
  }
  for (int i = 0; i < 3; ++i) CHECK(pool.try_allocate() != nullptr);
}

TEST_CASE("equal if and only if they use the same pool, whatever they allocate") {
  counted one{blocks_of(64)};
  counted two{blocks_of(64)};
  CHECK(allocator<int>{one} == allocator<int>{one});
  CHECK(allocator<int>{one} == allocator<char>{allocator<int>{one}});
  CHECK(allocator<int>{one} != allocator<int>{two});
  CHECK(&allocator<int>{one}.pool() == &one);
}

TEST_CASE("moved and swapped containers take their pool along, assigned ones keep theirs") {
  counted one{blocks_of(64)};
  counted two{blocks_of(64)};
  using list = std::list<int, allocator<int>>;
  list first{{1, 2, 3}, allocator<int>{one}};
  list second{{4, 5}, allocator<int>{two}};
  swap(first, second);
  CHECK(&first.get_allocator().pool() == &two);
  CHECK(first == list{{4, 5}, allocator<int>{one}});
  first = second;
  CHECK(&first.get_allocator().pool() == &two);
  CHECK(two.counts().live == 3);
  first = std::move(second);
  CHECK(&first.get_allocator().pool() == &one);
  CHECK(two.counts().live == 0);
  const list copy{first};
  CHECK(&copy.get_allocator().pool() == &one);
}

TEST_CASE("a pool for all threads serves as well") {
  using pool = heapwise::pool<heapwise::thread_cached>;
  pool blocks{blocks_of(64)};
  std::list<int, heapwise::std_allocator<int, pool>> numbers{blocks};
  numbers.assign(100, 7);
  CHECK(blocks.contains(&numbers.front()) == false); // the value lies within its node
  CHECK(numbers.size() == 100);
}

} // namespace
