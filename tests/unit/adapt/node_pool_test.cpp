#include <heapwise/adapt/node_pool.hpp>

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include <doctest/doctest.h>
#include <heapwise/adapt/std_allocator.hpp>
#include <heapwise/thread/locked.hpp>

namespace {

using heapwise::when_exhausted;
template <class T, when_exhausted then = when_exhausted::throws>
using allocator = heapwise::std_allocator<T, heapwise::node_pool<>, then>;

static_assert(heapwise::block_pool<heapwise::node_pool<>>);
static_assert(heapwise::block_pool<heapwise::node_pool<heapwise::locked>>);

/// Allocates as std::allocator, and remembers the size of the single objects.
template <class T>
struct watching {
  using value_type = T;
  watching() = default;
  template <class Other>
  watching(const watching<Other>&) noexcept {}
  T* allocate(std::size_t count) {
    if (count == 1) object_bytes() = sizeof(T);
    return std::allocator<T>{}.allocate(count);
  }
  void deallocate(T* memory, std::size_t count) { std::allocator<T>{}.deallocate(memory, count); }
  bool operator==(const watching&) const = default;
  static std::size_t& object_bytes();
};
std::size_t watched_bytes = 0;
template <class T>
std::size_t& watching<T>::object_bytes() {
  return watched_bytes;
}

template <template <class> class Allocator>
struct containers {
  using list = std::list<std::array<char, 61>, Allocator<std::array<char, 61>>>;
  using pair = std::pair<const std::string, int>;
  using tree = std::map<std::string, int, std::less<>, Allocator<pair>>;
  using table = std::unordered_map<std::string, int, std::hash<std::string>, std::equal_to<>,
                                   Allocator<pair>>;
};
template <class T>
using from_nodes = allocator<T>;

template <class Container>
void fill(Container& container) {
  for (int i = 0; i < 100; ++i) {
    if constexpr (requires { container.emplace_back(); }) {
      container.emplace_back();
    } else {
      container.emplace(std::to_string(i), i);
    }
  }
}

template <class Watched, class Pooled>
void check_exact() {
  Watched watched;
  fill(watched);
  heapwise::node_pool<> nodes{{.block_count = 100}};
  Pooled pooled{typename Pooled::allocator_type{nodes}};
  CHECK(nodes.blocks() == nullptr);
  fill(pooled); // an exhausted pool would throw
  CHECK(nodes.block_size() == watched_bytes);
  CHECK(nodes.blocks()->stride_bytes() == watched_bytes);
  CHECK(nodes.try_allocate() == nullptr); // all 100 were of the pool
  pooled.clear();
  CHECK(nodes.try_allocate() != nullptr);
}

TEST_CASE("blocks have the size that a container asks for, and no byte more") {
  check_exact<containers<watching>::list, containers<from_nodes>::list>();
  check_exact<containers<watching>::tree, containers<from_nodes>::tree>();
  check_exact<containers<watching>::table, containers<from_nodes>::table>();
}

TEST_CASE("before the first node there is no pool and no memory of it") {
  heapwise::node_pool<> nodes{{.block_count = 4}};
  int some = 0;
  CHECK(nodes.block_size() == 0);
  CHECK(nodes.try_allocate() == nullptr);
  CHECK_FALSE(nodes.contains(&some));
  CHECK_FALSE(nodes.claim(&some));
  CHECK_FALSE(nodes.deallocate(&some));
  CHECK(nodes.deallocate(nullptr));
  CHECK_THROWS_AS(static_cast<void>(nodes.allocate()), std::bad_alloc);
  CHECK_FALSE(allocator<int>{nodes}.uses_pool());
  allocator<int> ints{nodes};
  ints.deallocate(ints.allocate(2), 2); // an array decides nothing
  CHECK(nodes.blocks() == nullptr);
}

TEST_CASE("the first object decides: smaller ones share its pool, larger ones do not fit") {
  heapwise::node_pool<> nodes{{.block_count = 8}};
  allocator<std::array<long, 4>> first{nodes};
  allocator<long> smaller{nodes};
  allocator<std::array<long, 5>> larger{nodes};
  auto* const one = first.allocate(1);
  long* const two = smaller.allocate(1);
  auto* const three = larger.allocate(1);
  CHECK(nodes.contains(one));
  CHECK(nodes.contains(two));
  CHECK_FALSE(nodes.contains(three));
  first.deallocate(one, 1);
  smaller.deallocate(two, 1);
  larger.deallocate(three, 1);
}

TEST_CASE("size and alignment of the options are lower bounds") {
  struct alignas(64) wide {
    char bytes[64];
  };
  heapwise::node_pool<> aligned{{.block_count = 8}};
  allocator<wide> wides{aligned};
  wide* const one = wides.allocate(1);
  CHECK(reinterpret_cast<std::uintptr_t>(one) % 64 == 0);
  CHECK(aligned.contains(one));
  wides.deallocate(one, 1);

  heapwise::node_pool<> large{{.block_size = 100, .block_count = 8, .alignment = 32}};
  allocator<long> longs{large};
  longs.deallocate(longs.allocate(1), 1);
  CHECK(large.block_size() == 100);
  CHECK(large.alignment() == 32);
}

TEST_CASE("options that make no pool throw at the first object, each time") {
  heapwise::node_pool<> none{{.block_count = 0}};
  allocator<int> ints{none};
  CHECK_THROWS_AS(static_cast<void>(ints.allocate(1)), std::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(ints.allocate(1)), std::invalid_argument);
  CHECK(none.blocks() == nullptr);
}

TEST_CASE("an allocator that spills over a pool of nodes") {
  using spilling = allocator<int, when_exhausted::spills>;
  heapwise::node_pool<> nodes{{.block_count = 3}};
  std::list<int, spilling> numbers{spilling{nodes}};
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 20; ++i) numbers.push_back(i);
    CHECK(nodes.try_allocate() == nullptr);
    numbers.clear();
  }
  for (int i = 0; i < 3; ++i) CHECK(nodes.try_allocate() != nullptr);
}

} // namespace
