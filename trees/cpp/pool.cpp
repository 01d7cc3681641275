// Binary trees from a pool of nodes: one allocate and one deallocate for every node. Each phase has
// a pool as large as its trees. TREES_CHECKING is what the pool checks of its user.
#include <heapwise/pool.hpp>

#include "binary_trees.hpp"

namespace {

class in_pool {
 public:
  using tree = trees::node*;

  explicit in_pool(int depth)
      : nodes_{{.block_size = sizeof(trees::node),
                .block_count = trees::nodes_of(depth),
                .alignment = alignof(trees::node),
                .growth = heapwise::growth::fixed,
                .max_block_count = 0}} {}

  [[nodiscard]] tree make(int depth) {
    return trees::make(depth, [&nodes = nodes_] { return nodes.allocate(); });
  }
  [[nodiscard]] long count(const trees::node* root) const { return trees::count(root); }
  void drop(tree root) {
    trees::drop(root, [&nodes = nodes_](trees::node* node) { nodes.deallocate(node); });
  }

 private:
  heapwise::pool<heapwise::unsynchronized, heapwise::TREES_CHECKING> nodes_;
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<in_pool>(argc, argv); }
