// Binary trees from a pool that is reset: nodes are allocated one by one and forgotten all at once,
// as from an arena. Each phase has a pool as large as a tree.
#include <heapwise/pool.hpp>

#include "binary_trees.hpp"

namespace {

class in_arena {
 public:
  using tree = trees::node*;

  explicit in_arena(int depth)
      : nodes_{{.block_size = sizeof(trees::node),
                .block_count = trees::nodes_of(depth),
                .alignment = alignof(trees::node),
                .growth = heapwise::growth::fixed,
                .max_block_count = 0}} {}

  [[nodiscard]] tree make(int depth) {
    return trees::make(depth, [&nodes = nodes_] { return nodes.allocate(); });
  }
  [[nodiscard]] long count(const trees::node* root) const { return trees::count(root); }
  void drop(tree /*root*/) { nodes_.reset(); }

 private:
  heapwise::pool<heapwise::unsynchronized, heapwise::trusting> nodes_;
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<in_arena>(argc, argv); }
