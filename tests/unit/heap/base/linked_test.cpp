#include "heap/base/linked.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <doctest/doctest.h>

namespace {

using namespace heapwise::detail;

struct node {
  node* next = nullptr;
  node* previous = nullptr;
};

std::vector<const node*> all_of(const linked_list<node>& list) {
  std::vector<const node*> nodes;
  for (const node* each = list.first(); each != nullptr; each = each->next) nodes.push_back(each);
  return nodes;
}

TEST_CASE("a stack gives back what was pushed, the last one first, and can be filled again") {
  std::array<node, 3> nodes;
  linked_stack<node> stack;
  for (int round = 0; round < 2; ++round) {
    CHECK(stack.is_empty());
    for (node& each : nodes) stack.push(each);
    for (std::size_t at = nodes.size(); at-- > 0;) {
      CHECK_FALSE(stack.is_empty());
      CHECK(&stack.pop() == &nodes[at]);
    }
  }
  CHECK(stack.is_empty());
}

TEST_CASE("a list keeps the others in order, whichever node leaves, and takes it again") {
  for (std::size_t number = 0; number < 3; ++number) {
    std::array<node, 3> nodes;
    linked_list<node> list;
    for (node& each : nodes) list.push(each);
    list.remove(nodes[number]);
    std::vector<const node*> expected{&nodes[2], &nodes[1], &nodes[0]};
    expected.erase(std::find(expected.begin(), expected.end(), &nodes[number]));
    CHECK(all_of(list) == expected);
    list.push(nodes[number]);
    expected.insert(expected.begin(), &nodes[number]);
    CHECK(all_of(list) == expected);
    for (node& each : nodes) list.remove(each);
    CHECK(list.first() == nullptr);
  }
}

} // namespace
