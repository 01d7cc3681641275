// Binary trees with std::shared_ptr. Two things are chosen when it is built:
//   TREES_CONST_REF       the walk passes pointers by const reference and leaves the counts alone;
//                         without it every step of the walk takes a copy
//   TREES_SECOND_THREAD   another thread waits meanwhile: with one alone, libstdc++ counts without
//                         atomic instructions
#include <memory>

#include "binary_trees.hpp"

#ifdef TREES_SECOND_THREAD
#include <semaphore>
#include <thread>
#endif

namespace {

struct shared_node;
using shared_tree = std::shared_ptr<const shared_node>;

struct shared_node {
  shared_tree left;
  shared_tree right;
};

#ifdef TREES_CONST_REF
using passed = const shared_tree&;
#else
using passed = shared_tree;
#endif

long count_nodes(passed root) { // NOLINT(performance-unnecessary-value-param)
  if (!root->left) return 1;
  return 1 + count_nodes(root->left) + count_nodes(root->right);
}

class counted {
 public:
  using tree = shared_tree;

  explicit counted(int /*depth*/) {}

  [[nodiscard]] tree make(int depth) const {
    if (depth == 0) return std::make_shared<shared_node>();
    return std::make_shared<shared_node>(make(depth - 1), make(depth - 1));
  }
  [[nodiscard]] long count(passed root) const { return count_nodes(root); } // NOLINT
  void drop(tree root) const { root.reset(); }
};

} // namespace

int main(int argc, char** argv) {
#ifdef TREES_SECOND_THREAD
  std::binary_semaphore end{0};
  const std::jthread waiting{[&end] { end.acquire(); }};
#endif
  const int status = trees::binary_trees<counted>(argc, argv);
#ifdef TREES_SECOND_THREAD
  end.release();
#endif
  return status;
}
