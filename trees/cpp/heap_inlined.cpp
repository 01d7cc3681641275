// Binary trees with the heap's own functions from its header: malloc's work, inlined, and the size
// given back with the block, as operator delete does.
#include <heapwise/heap.hpp>

#include "binary_trees.hpp"

namespace {

class on_heap {
 public:
  using tree = trees::node*;

  explicit on_heap(int /*depth*/) {}

  [[nodiscard]] tree make(int depth) const {
    return trees::make(depth, [] { return heapwise::allocate(sizeof(trees::node)); });
  }
  [[nodiscard]] long count(const trees::node* root) const { return trees::count(root); }
  void drop(tree root) const {
    trees::drop(root, [](trees::node* node) { heapwise::deallocate(node, sizeof(trees::node)); });
  }
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<on_heap>(argc, argv); }
