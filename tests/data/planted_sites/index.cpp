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
template <class T>
struct from_nodes {
  using value_type = T;
  from_nodes() = default;
  template <class U>
  from_nodes(const from_nodes<U>&) {}
  T* allocate(std::size_t) {
    if (void* const block = nodes.try_allocate()) [[likely]]
      return static_cast<T*>(block);
    nodes.take_shape(sizeof(T), alignof(T));
    return static_cast<T*>(nodes.allocate());
  }
  void deallocate(T* old, std::size_t) { nodes.deallocate(old); }
  friend bool operator==(from_nodes, from_nodes) { return true; }
};
using index = std::map<std::uint64_t, std::uint64_t, std::less<>, from_nodes<entry>>;
#else
using index = std::map<std::uint64_t, std::uint64_t, std::less<>, std::allocator<entry>>;
#endif

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
