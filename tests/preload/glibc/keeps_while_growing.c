/* Keeps a reserve of 16 MB while the program grows by blocks of another size. Prints how many pages
 * of the reserve were missing. usage: keeps_while_growing ASK, where ASK is 0 or 1 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { all = 640, others = 60 };

static void* blocks[all];

static void take_every(int step) {
  for (int i = 0; i < all; i += step) memset(blocks[i] = malloc(50000), 1, 50000);
}

static void free_every_second(void) {
  for (int i = 0; i < all; i += 2) free(blocks[i]);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (argv[1][0] == '1' && mallopt(M_TRIM_THRESHOLD, -1) != 1) return 3;
  take_every(1);
  free_every_second(); /* no two beside each other: blocks of the other size do not fit */
  for (int i = 0; i < others; ++i) memset(malloc(100000), 1, 100000);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  take_every(2);
  getrusage(RUSAGE_SELF, &after);
  printf("%ld\n", after.ru_minflt - before.ru_minflt);
  return 0;
}
