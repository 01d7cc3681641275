// A map of the C++ library: one node for each key, inserted and erased at random.
#include <functional>
#include <map>
#include <memory>

#include "planted.hpp"

namespace {

using entry = std::pair<const std::uint64_t, std::uint64_t>;

#ifdef PLANTED
heapwise::node_pool<heapwise::unsynchronized> nodes{
    {.block_count = 256, .growth = heapwise::growth::geometric}};
void* make_node(std::size_t bytes, std::size_t alignment) {
  if (void* const block = nodes.try_allocate()) [[likely]]
    return block;
  nodes.take_shape(bytes, alignment);
  return nodes.allocate();
}
void end_node(void* old) { nodes.deallocate(old); }
#else
[[gnu::noinline]] void* make_node(std::size_t bytes, std::size_t) { return ::operator new(bytes); }
void end_node(void* old) { ::operator delete(old); }
#endif

/// The same in both programs, so that the compiler makes the same code of the map.
template <class T>
struct from_nodes {
  using value_type = T;
  from_nodes() = default;
  template <class U>
  from_nodes(const from_nodes<U>&) {}
  T* allocate(std::size_t) { return static_cast<T*>(make_node(sizeof(T), alignof(T))); }
  void deallocate(T* old, std::size_t) { end_node(old); }
  friend bool operator==(from_nodes, from_nodes) { return true; }
};
using index = std::map<std::uint64_t, std::uint64_t, std::less<>, from_nodes<entry>>;

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  planted::random numbers;
  index keys;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps; ++i) {
    const std::uint64_t key = numbers.below(1024);
    if (keys.erase(key) == 0) keys.emplace(key, i);
    if (i % 16 == 0) noise.step();
  }
  return keys.size() == 1;
}
