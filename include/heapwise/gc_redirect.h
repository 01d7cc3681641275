/* Replaces the functions of the C library that allocate by functions of the collector, in each file
 * that includes this header after all headers of the system. Meant for programs that were written
 * for malloc: their blocks are collected, or their leaks are found (option find_leaks).
 *
 * A block of a library that was compiled without this header (from getline, asprintf, readdir) is
 * not a block of the collector. Calling free for it ends the process with a line on standard error.
 * Call (free)(block) with parentheses instead, which is the function of the C library. In C++,
 * `new` and containers are unchanged. */
#ifndef HEAPWISE_GC_REDIRECT_H
#define HEAPWISE_GC_REDIRECT_H

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "heapwise/gc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a thread is started with. */
struct heapwise_gc_thread_start {
  void* (*call)(void*);
  void* argument;
};

/* The first function of a thread. `memory` is a heapwise_gc_thread_start in a block that is kept.
 * Returns: the result of the program's function. */
static __inline__ void* heapwise_gc_run_thread(void* memory) {
  struct heapwise_gc_thread_start start;
  heapwise_gc_register_thread();
  start = *(struct heapwise_gc_thread_start*)memory; /* now on a stack that is a root */
  heapwise_gc_free(memory);
  return start.call(start.argument);
}

/* Effects: as pthread_create. The new thread is registered before `call` is called, and `argument`
 * is a root until then. Requires: a registered thread. Returns: as pthread_create; EAGAIN also if
 * there is no memory. */
static __inline__ int heapwise_gc_pthread_create(pthread_t* thread,
                                                 const pthread_attr_t* attributes,
                                                 void* (*call)(void*), void* argument) {
  int error;
  struct heapwise_gc_thread_start* const start =
      (struct heapwise_gc_thread_start*)heapwise_gc_malloc_uncollectable(sizeof *start);
  if (start == NULL) return EAGAIN;
  start->call = call;
  start->argument = argument;
  error = pthread_create(thread, attributes, heapwise_gc_run_thread, start);
  if (error != 0) heapwise_gc_free(start);
  return error;
}

/* Returns: a block of `count * size` zero bytes; NULL with errno ENOMEM, also if the product is
 * more than a size_t holds. */
static __inline__ void* heapwise_gc_calloc(size_t count, size_t size) {
  if (size != 0 && count > (size_t)-1 / size) {
    errno = ENOMEM;
    return NULL;
  }
  return heapwise_gc_malloc(count * size);
}

/* Returns: an atomic block with the first bytes of the text, at most `most`, and a zero byte behind
 * them. */
static __inline__ char* heapwise_gc_strndup(const char* text, size_t most) {
  char* copy;
  size_t length = 0;
  while (length < most && text[length] != '\0') ++length;
  copy = (char*)heapwise_gc_malloc_atomic(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text, length);
  copy[length] = '\0';
  return copy;
}

/* Returns: as heapwise_gc_strndup, with the whole text. */
static __inline__ char* heapwise_gc_strdup(const char* text) {
  return heapwise_gc_strndup(text, strlen(text));
}

#ifdef __cplusplus
}
#endif

#undef malloc
#undef calloc
#undef realloc
#undef free
#undef aligned_alloc
#undef strdup
#undef strndup
#undef pthread_create
#define malloc(size) heapwise_gc_malloc(size)
#define calloc(count, size) heapwise_gc_calloc(count, size)
#define realloc(block, size) heapwise_gc_realloc(block, size)
#define free(block) heapwise_gc_free(block)
#define aligned_alloc(alignment, size) heapwise_gc_malloc_aligned(alignment, size)
#define strdup(text) heapwise_gc_strdup(text)
#define strndup(text, most) heapwise_gc_strndup(text, most)
#define pthread_create(thread, attributes, start, argument) \
  heapwise_gc_pthread_create(thread, attributes, start, argument)

#endif
