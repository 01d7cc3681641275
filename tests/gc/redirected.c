/* A file that was written for malloc, compiled so that its memory is the collector's. */
#include "redirected.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <heapwise/gc_redirect.h>

struct list {
  struct list* next;
  char* text;
};

int is_collected(const void* block) { return heapwise_gc_base(block) == block; }

int each_is_collected(void) {
  char* grown = realloc(NULL, 100);
  return is_collected(malloc(20)) && is_collected(calloc(3, 8)) && is_collected(grown) &&
         is_collected(realloc(grown, 5000)) && is_collected(aligned_alloc(256, 256)) &&
         is_collected(strdup("text")) && is_collected(strndup("text", 2));
}

int texts_are_copied(void) {
  const char* const whole = strdup("text");
  const char* const part = strndup("text", 2);
  return strcmp(whole, "text") == 0 && strcmp(part, "te") == 0 && *strndup("", 5) == '\0';
}

int too_much_is_refused(void) {
  const volatile size_t many = SIZE_MAX / 4;
  return calloc(many, 8) == NULL;
}

int other_blocks_can_be_freed(void) {
  void* const other = (malloc)(10);
  const int is_other = heapwise_gc_base(memset(other, 0, 10)) == NULL;
  (free)(other);
  free(malloc(10));
  free(NULL);
  return is_other;
}

static void* sum(void* argument) {
  size_t total = 0;
  int each;
  for (each = 0; each < 100000; ++each) malloc(64); /* what is not found is used again */
  for (const struct list* at = argument; at != NULL; at = at->next) total += strlen(at->text);
  return (void*)(uintptr_t)total;
}

/* The list is handed to the thread by nothing but the argument. */
size_t sum_in_a_thread(size_t count) {
  pthread_t thread;
  void* total = NULL;
  struct list* first = NULL;
  size_t each;
  for (each = 0; each < count; ++each) {
    struct list* const list = malloc(sizeof *list);
    list->next = first;
    list->text = strdup("four");
    first = list;
  }
  if (pthread_create(&thread, NULL, sum, first) != 0) return 0;
  first = NULL;
  heapwise_gc_collect();
  pthread_join(thread, &total);
  return (size_t)(uintptr_t)total;
}

int a_thread_that_cannot_start_is_an_error(void) {
  pthread_attr_t attributes;
  pthread_t thread;
  int error;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, (size_t)1 << 46);
  error = pthread_create(&thread, &attributes, sum, NULL);
  pthread_attr_destroy(&attributes);
  return error != 0;
}
