// Binary trees from a pool of nodes: one allocate and one deallocate for every node.
// TREES_CHECKING is what the pool checks of its user.
#include <cstddef>

#include <heapwise/pool.hpp>

#include "binary_trees.hpp"

namespace {

class in_pool {
 public:
  using tree = trees::node*;

  explicit in_pool(int /*depth*/)
      : nodes_{{.block_size = sizeof(trees::node),
                .block_count = first_nodes,
                .alignment = alignof(trees::node),
                .growth = heapwise::growth::geometric,
                .max_block_count = 0}} {}

  [[nodiscard]] tree make(int depth) {
    auto allocate = [this] { return nodes_.allocate(); };
    return trees::make(depth, allocate);
  }
  [[nodiscard]] long count(const trees::node* root) const { return trees::count(root); }
  void drop(tree root) {
    auto deallocate = [this](trees::node* gone) { nodes_.deallocate(gone); };
    trees::drop(root, deallocate);
  }

 private:
  static constexpr std::size_t first_nodes = 4096;
  heapwise::pool<heapwise::unsynchronized, heapwise::TREES_CHECKING> nodes_;
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<in_pool>(argc, argv); }
