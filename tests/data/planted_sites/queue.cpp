// Events in a queue: nodes of 48 bytes, first in, first out.
#include <new>

#include "planted.hpp"

namespace {

struct node {
  node* next;
  std::uint64_t values[5];
};

#ifdef PLANTED
heapwise::pool<heapwise::unsynchronized> nodes{planted::growing(sizeof(node))};
node* make_node() { return static_cast<node*>(nodes.allocate()); }
void end_node(node* old) { nodes.deallocate(old); }
#else
[[gnu::noinline]] node* make_node() { return static_cast<node*>(::operator new(sizeof(node))); }
void end_node(node* old) { ::operator delete(old); }
#endif

} // namespace

int main(int argc, char** argv) {
  planted::noise noise;
  node* first = nullptr;
  node** last = &first;
  std::uint64_t sum = 0;
  const std::uint64_t steps = planted::steps(argc, argv, 1'000'000);
  for (std::uint64_t i = 0; i < steps + 500; ++i) {
    if (i < steps) {
      node* made = make_node();
      made->next = nullptr;
      made->values[i % 5] = i;
      *last = made;
      last = &made->next;
    }
    if (i >= 500) {
      node* old = first;
      first = old->next;
      sum += old->values[0];
      end_node(old);
    }
    if (i % 16 == 0) noise.step();
  }
  return sum == 1;
}
