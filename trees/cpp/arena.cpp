// Binary trees from an arena: nodes are allocated one by one and freed all at once.
#include <heapwise/arena.hpp>

#include "binary_trees.hpp"

namespace {

class in_arena {
 public:
  using tree = trees::node*;

  explicit in_arena(int /*depth*/) {}

  [[nodiscard]] tree make(int depth) {
    return trees::make(depth, [&nodes = nodes_] {
      return nodes.allocate(sizeof(trees::node), alignof(trees::node));
    });
  }
  [[nodiscard]] long count(const trees::node* root) const { return trees::count(root); }
  void drop(tree /*root*/) { nodes_.reset(); }

 private:
  heapwise::arena nodes_;
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<in_arena>(argc, argv); }
