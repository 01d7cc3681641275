/* Binary trees on Heapwise's own collector. It reads HEAPWISE_GC_MARKERS and
 * HEAPWISE_GC_FREE_SPACE_DIVISOR from the environment. With TREES_EXPLICIT_FREE every node is given
 * back by the program. */
#include <heapwise/gc.h>

#include "c/binary_trees.h"

static struct node* node_allocate(void) { return checked(heapwise_gc_malloc(sizeof(struct node))); }

#ifdef TREES_EXPLICIT_FREE
static void tree_drop(struct node* root) {
  if (root->left != NULL) {
    tree_drop(root->left);
    tree_drop(root->right);
  }
  heapwise_gc_free(root);
}
#else
static void tree_drop(struct node* root) { (void)root; }
#endif

int main(int argc, char** argv) {
  if (heapwise_gc_init(NULL) != 0) {
    fputs("the collector does not start\n", stderr);
    return 1;
  }
  const int status = binary_trees(argc, argv);
  heapwise_gc_statistics known;
  heapwise_gc_statistics_get(&known);
  /* Where a copy of the process marks, a thread may also have waited for it. */
  const size_t longest_ns = known.longest_wait_ns > known.longest_pause_ns ? known.longest_wait_ns
                                                                           : known.longest_pause_ns;
  fprintf(stderr,
          "heapwise-trees: collections=%zu longest_pause_s=%.6f total_pause_s=%.6f "
          "longest_stop_s=%.6f\n",
          known.collections, 1e-9 * (double)longest_ns, 1e-9 * (double)known.total_pause_ns,
          1e-9 * (double)known.longest_stop_ns);
  return status;
}
