/* The sequence of trees, for every program in C. Before it calls binary_trees, a program defines
 * the two functions that are declared here; nothing else tells the programs apart. */
#pragma once

#include <stdio.h>
#include <stdlib.h>

struct node {
  struct node* left;
  struct node* right;
};

/* Returns: a node whose words have any value. Does not return without memory. */
static struct node* node_allocate(void);

/* Effects: the tree is not used again; its nodes are given back, where that is the program's job.
 */
static void tree_drop(struct node* root);

/* Returns: the root of a perfect tree of that depth, built from its leaves. */
static struct node* tree_make(int depth) {
  struct node* left = NULL;
  struct node* right = NULL;
  if (depth > 0) {
    left = tree_make(depth - 1);
    right = tree_make(depth - 1);
  }
  struct node* root = node_allocate();
  root->left = left;
  root->right = right;
  return root;
}

/* Returns: the number of nodes. */
static long tree_count(const struct node* root) {
  if (root->left == NULL) return 1;
  return 1 + tree_count(root->left) + tree_count(root->right);
}

static void trees_of_depth(int depth, long trees) {
  long check = 0;
  for (long i = 0; i < trees; ++i) {
    struct node* root = tree_make(depth);
    check += tree_count(root);
    tree_drop(root);
  }
  printf("%ld\t trees of depth %d\t check: %ld\n", trees, depth, check);
}

static int binary_trees(int argc, char** argv) {
  enum { min_depth = 4, default_depth = 10 };
  int depth = argc > 1 ? atoi(argv[1]) : default_depth;
  if (depth < min_depth + 2) depth = min_depth + 2;

  struct node* stretch = tree_make(depth + 1);
  printf("stretch tree of depth %d\t check: %ld\n", depth + 1, tree_count(stretch));
  tree_drop(stretch);

  struct node* long_lived = tree_make(depth);
  for (int d = min_depth; d <= depth; d += 2) trees_of_depth(d, 1L << (depth - d + min_depth));
  printf("long lived tree of depth %d\t check: %ld\n", depth, tree_count(long_lived));
  tree_drop(long_lived);
  return 0;
}

static void* checked(void* block) {
  if (block == NULL) {
    fputs("no memory\n", stderr);
    exit(1);
  }
  return block;
}
