// The sequence of trees, for every program in C++.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

namespace trees {

inline constexpr int min_depth = 4;
inline constexpr int default_depth = 10;

/// Where the trees of one phase of the program grow.
///
/// `make` builds a perfect tree from its leaves, `count` walks it, `drop` ends it. Constructed with
/// the depth of the trees that are to come.
template <class Forest>
concept forest = std::constructible_from<Forest, int> &&
                 requires(Forest& here, int depth, typename Forest::tree tree) {
                   { here.make(depth) } -> std::same_as<typename Forest::tree>;
                   { here.count(std::as_const(tree)) } -> std::same_as<long>;
                   here.drop(std::move(tree));
                 };

template <forest Forest>
void stretch(int depth) {
  Forest here{depth};
  auto tree = here.make(depth);
  std::printf("stretch tree of depth %d\t check: %ld\n", depth, here.count(tree));
  here.drop(std::move(tree));
}

template <forest Forest>
void trees_of_depth(int depth, long trees) {
  Forest here{depth};
  long check = 0;
  for (long i = 0; i < trees; ++i) {
    auto tree = here.make(depth);
    check += here.count(tree);
    here.drop(std::move(tree));
  }
  std::printf("%ld\t trees of depth %d\t check: %ld\n", trees, depth, check);
}

/// The whole benchmark, as `main`.
template <forest Forest>
int binary_trees(int argc, char** argv) {
  const int asked = argc > 1 ? std::atoi(argv[1]) : default_depth;
  const int depth = std::max(asked, min_depth + 2);
  stretch<Forest>(depth + 1);

  Forest here{depth};
  auto long_lived = here.make(depth);
  for (int d = min_depth; d <= depth; d += 2) {
    trees_of_depth<Forest>(d, 1L << (depth - d + min_depth));
  }
  std::printf("long lived tree of depth %d\t check: %ld\n", depth, here.count(long_lived));
  here.drop(std::move(long_lived));
  return 0;
}

/// A node that owns nothing: two words.
struct node {
  node* left;
  node* right;
};

[[nodiscard]] inline std::size_t nodes_of(int depth) { return (std::size_t{2} << depth) - 1; }

[[nodiscard]] inline long count(const node* root) {
  if (root->left == nullptr) return 1;
  return 1 + count(root->left) + count(root->right);
}

/// A perfect tree whose nodes `allocate` provides memory for.
template <class Allocate>
[[nodiscard]] node* make(int depth, Allocate allocate) {
  node* left = nullptr;
  node* right = nullptr;
  if (depth > 0) {
    left = make(depth - 1, allocate);
    right = make(depth - 1, allocate);
  }
  return ::new (allocate()) node{left, right};
}

/// Hands every node of the tree to `deallocate`, children first.
template <class Deallocate>
void drop(node* root, Deallocate deallocate) {
  if (root->left != nullptr) {
    drop(root->left, deallocate);
    drop(root->right, deallocate);
  }
  deallocate(root);
}

} // namespace trees
