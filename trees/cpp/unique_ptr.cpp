// Binary trees with std::unique_ptr: operator new and operator delete for every node, and
// destructors that do what the program in C does by hand.
#include <memory>
#include <utility>

#include "binary_trees.hpp"

namespace {

struct owning_node;
using owning_tree = std::unique_ptr<owning_node>;

struct owning_node {
  owning_tree left;
  owning_tree right;
};

long count_nodes(const owning_node& root) {
  if (!root.left) return 1;
  return 1 + count_nodes(*root.left) + count_nodes(*root.right);
}

class owned {
 public:
  using tree = owning_tree;

  explicit owned(int /*depth*/) {}

  [[nodiscard]] tree make(int depth) const {
    if (depth == 0) return std::make_unique<owning_node>();
    return std::make_unique<owning_node>(make(depth - 1), make(depth - 1));
  }
  [[nodiscard]] long count(const tree& root) const { return count_nodes(*root); }
  void drop(tree root) const { root.reset(); }
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<owned>(argc, argv); }
