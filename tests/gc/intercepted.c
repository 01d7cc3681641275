/* Threads allocate from the C library and from the collector all the time, and another library takes
 * each function that the collector calls, and allocates in there. While threads stand still, one of
 * them holds the C library's locks now and then. Prints "done". */
#include <heapwise/gc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { threads = 3, blocks = 100, collections = 300 };

static int over; /* written once, by the first thread */

struct node {
  struct node* next;
  size_t number;
};

static void* allocate_both(void* unused) {
  if (heapwise_gc_register_thread() != 0) abort();
  while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
    struct node* list = NULL;
    for (size_t i = 0; i < blocks; ++i) {
      struct node* const first = heapwise_gc_malloc(sizeof *first);
      first->next = list;
      first->number = i;
      list = first;
      free(malloc(2000 + 50 * i)); /* the C library locks for it */
    }
    for (size_t i = blocks; i-- > 0; list = list->next) {
      if (list->number != i) abort();
    }
  }
  return unused;
}

int main(void) {
  alarm(60);
  if (heapwise_gc_init(NULL) != 0) return 1;
  pthread_t all[threads];
  for (int i = 0; i < threads; ++i) pthread_create(&all[i], NULL, allocate_both, NULL);
  for (int i = 0; i < collections; ++i) {
    heapwise_gc_collect();
    usleep(1000);
  }
  __atomic_store_n(&over, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < threads; ++i) pthread_join(all[i], NULL);
  puts("done");
  return 0;
}
