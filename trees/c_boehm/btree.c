/* Binary trees on the collector of Boehm, Demers and Weiser. It reads GC_MARKERS,
 * GC_FREE_SPACE_DIVISOR and GC_ENABLE_INCREMENTAL from the environment. Built three times: plain
 * nothing is freed; the collector as it is installed TREES_EXPLICIT_FREE       every node is given
 * back with GC_FREE TREES_NO_INTERIOR         only pointers to the first byte of a node keep it
 * alive, which saves the byte that the collector otherwise adds to every object */
#define GC_THREADS
#define GC_NO_THREAD_REDIRECTS
#include <gc/gc.h>
#include <time.h>

#include "c/binary_trees.h"

static struct node* node_allocate(void) { return checked(GC_MALLOC(sizeof(struct node))); }

#ifdef TREES_EXPLICIT_FREE
static void tree_drop(struct node* root) {
  if (root->left != NULL) {
    tree_drop(root->left);
    tree_drop(root->right);
  }
  GC_FREE(root);
}
#else
static void tree_drop(struct node* root) { (void)root; }
#endif

static double asked_at_s;
static double longest_pause_s;
static double total_pause_s;
static double longest_stop_s;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* A pause lasts from asking threads to stop until they go on. Sweeping is lazy and belongs to
 * allocation. */
static void on_event(GC_EventType event) {
  if (event == GC_EVENT_PRE_STOP_WORLD) {
    asked_at_s = now_s();
  } else if (event == GC_EVENT_POST_STOP_WORLD) {
    const double stop_s = now_s() - asked_at_s;
    if (stop_s > longest_stop_s) longest_stop_s = stop_s;
  } else if (event == GC_EVENT_POST_START_WORLD) {
    const double pause_s = now_s() - asked_at_s;
    total_pause_s += pause_s;
    if (pause_s > longest_pause_s) longest_pause_s = pause_s;
  }
}

static void demand(int in_force, const char* what) {
  if (in_force) return;
  fprintf(stderr, "this libgc does not do as the environment says: %s\n", what);
  exit(1);
}

/* Marker threads wait for the first thread of the program's own unless they are told, and this
 * program has none. A row must not claim what is not there. */
static void start(void) {
  GC_INIT();
  GC_start_mark_threads();
  const char* markers = getenv("GC_MARKERS");
  demand(markers == NULL || atoi(markers) < 2 || GC_get_parallel(), "several markers");
  demand(getenv("GC_ENABLE_INCREMENTAL") == NULL || GC_is_incremental_mode(), "incremental");
}

int main(int argc, char** argv) {
#ifdef TREES_NO_INTERIOR
  GC_set_all_interior_pointers(0);
#endif
  start();
  GC_set_on_collection_event(on_event);
  const int status = binary_trees(argc, argv);
  fprintf(stderr,
          "heapwise-trees: collections=%lu longest_pause_s=%.6f total_pause_s=%.6f "
          "longest_stop_s=%.6f\n",
          (unsigned long)GC_get_gc_no(), longest_pause_s, total_pause_s, longest_stop_s);
  return status;
}
