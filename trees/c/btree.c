/* Binary trees with malloc and free: one call of each for every node. */
#include "binary_trees.h"

static struct node* node_allocate(void) { return checked(malloc(sizeof(struct node))); }

static void tree_drop(struct node* root) {
  if (root->left != NULL) {
    tree_drop(root->left);
    tree_drop(root->right);
  }
  free(root);
}

int main(int argc, char** argv) { return binary_trees(argc, argv); }
