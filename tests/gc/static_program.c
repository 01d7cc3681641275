/* A program without a loader: the thread-local variables of its first thread are roots, too. */
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <heapwise/gc.h>

static __thread void* volatile of_this_thread;

static __attribute__((__noinline__)) void keep_new_block(void) {
  of_this_thread = heapwise_gc_malloc(80);
  memset(of_this_thread, 1, 80);
}

static __attribute__((__noinline__)) void overwrite_stack(void) {
  uintptr_t words[1000];
  memset(words, 1, sizeof words);
  __asm__ volatile("" : : "r"(words) : "memory");
}

/* Collects, and takes what was found free. */
static void* collect(void* unused) {
  int each;
  if (heapwise_gc_register_thread() != 0) return unused;
  heapwise_gc_collect();
  for (each = 0; each < 10000; ++each) heapwise_gc_malloc(80);
  heapwise_gc_unregister_thread();
  return NULL;
}

int main(void) {
  pthread_t other;
  int failed = 1;
  if (heapwise_gc_init(NULL) != 0) return 2;
  keep_new_block();
  overwrite_stack();
  if (pthread_create(&other, NULL, collect, &failed) != 0) return 3;
  pthread_join(other, NULL);
  return *(volatile unsigned char*)of_this_thread == 1 ? 0 : 1;
}
