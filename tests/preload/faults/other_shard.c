/* One thread takes all memory that a limit allows, and frees some blocks. Prints how many of them
 * another thread gets, which has a shard of its own. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void heapwise_thread_idle(void) __attribute__((weak));

enum { bytes = 1000, most = 200000, freed = 60, apart = 200 };

static void* blocks[most];

static void* take_all(void* unused) {
  int count = 0;
  while (count < most && (blocks[count] = malloc(bytes)) != NULL) ++count;
  if (count < freed * apart) return "too few";
  for (int each = 0; each < freed; ++each) free(blocks[each * apart]);
  if (heapwise_thread_idle != NULL) heapwise_thread_idle();
  return unused;
}

int main(void) {
  pthread_t thread;
  void* said = NULL;
  free(malloc(bytes));
  if (pthread_create(&thread, NULL, take_all, NULL) != 0 || pthread_join(thread, &said) != 0) return 2;
  if (said != NULL) return 3;
  int got = 0;
  while (malloc(bytes) != NULL) ++got;
  printf("%d\n", got);
  return 0;
}
