/* Whose malloc the program has, and whose the C library has that calls it. */
#include <heapwise/malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t large_blocks(void) {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  return now.large_blocks;
}

static const char* giver(size_t before) { return large_blocks() > before ? "ours" : "another's"; }

int main(void) {
  size_t before = large_blocks();
  char* volatile own = malloc(1 << 20), * volatile of_the_library;
  printf("%s ", giver(before));
  memset(own, 'a', (1 << 20) - 1);
  own[(1 << 20) - 1] = 0;
  before = large_blocks();
  of_the_library = strdup(own);
  puts(giver(before));
  free(of_the_library);
  free(own);
  return 0;
}
