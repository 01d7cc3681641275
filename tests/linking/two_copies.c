/* A program that is linked with the static library and exports its names, and that runs with
   another copy preloaded: each copy has variables of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <heapwise/malloc.h>

enum { count = 2000 };

static void* use_both(void* unused) {
  void* theirs[count];
  void* ours[count];
  for (int i = 0; i < count; ++i) {
    const size_t size = (size_t)(i * 37 % 3000);
    theirs[i] = malloc(size);
    ours[i] = heapwise_malloc(size);
    if (theirs[i] == NULL || ours[i] == NULL) abort();
    memset(theirs[i], 1, size);
    memset(ours[i], 2, size);
  }
  for (int i = 0; i < count; ++i) {
    free(theirs[i]);
    heapwise_free(ours[i]);
  }
  return unused;
}

int main(void) {
  use_both(NULL);
  pthread_t thread;
  if (pthread_create(&thread, NULL, use_both, NULL) != 0) return 1;
  pthread_join(thread, NULL);
  heapwise_malloc_statistics ours;
  heapwise_malloc_statistics_get(&ours);
  if (ours.refills == 0) return 2; /* nothing was asked of the linked copy */
  puts("done");
  return 0;
}
