// Binary trees from std::pmr::monotonic_buffer_resource, released after every tree. Without a
// buffer it asks operator new for pieces that grow, and gives them all back; with TREES_OWN_BUFFER
// it cuts the nodes from one buffer of the program's that is large enough for a tree.
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "binary_trees.hpp"

namespace {

#ifdef TREES_OWN_BUFFER
class storage {
 public:
  explicit storage(int depth)
      : buffer_(sizeof(trees::node) * trees::nodes_of(depth)),
        resource_{buffer_.data(), buffer_.size()} {}
  std::pmr::monotonic_buffer_resource& operator*() { return resource_; }

 private:
  std::vector<std::byte> buffer_;
  std::pmr::monotonic_buffer_resource resource_;
};
#else
class storage {
 public:
  explicit storage(int /*depth*/) {}
  std::pmr::monotonic_buffer_resource& operator*() { return resource_; }

 private:
  std::pmr::monotonic_buffer_resource resource_;
};
#endif

class in_buffer {
 public:
  using tree = trees::node*;

  explicit in_buffer(int depth) : storage_{depth} {}

  [[nodiscard]] tree make(int depth) {
    return trees::make(depth, [&resource = *storage_] {
      return resource.allocate(sizeof(trees::node), alignof(trees::node));
    });
  }
  [[nodiscard]] long count(const trees::node* root) const { return trees::count(root); }
  void drop(tree /*root*/) { (*storage_).release(); }

 private:
  storage storage_;
};

} // namespace

int main(int argc, char** argv) { return trees::binary_trees<in_buffer>(argc, argv); }
