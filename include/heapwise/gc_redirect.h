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
  size_t number; /* of the cell for its result */
};

/* Returns: the thread as functions of the collector name it. */
static __inline__ unsigned long heapwise_gc_name_of(pthread_t thread) {
#ifdef __GLIBC__
  return thread;
#else
  return (unsigned long)thread; /* a pointer in other C libraries */
#endif
}

/* The first function of a thread. `memory` is a heapwise_gc_thread_start in a block that is kept.
 * Returns: the result of the program's function, which is kept until the thread is joined. */
static __inline__ void* heapwise_gc_run_thread(void* memory) {
  struct heapwise_gc_thread_start start;
  void* result;
  heapwise_gc_register_thread();
  start = *(struct heapwise_gc_thread_start*)memory; /* now on a stack that is a root */
  heapwise_gc_free(memory);
  heapwise_gc_name_result(start.number, heapwise_gc_name_of(pthread_self()));
  result = start.call(start.argument);
  heapwise_gc_set_result(heapwise_gc_name_of(pthread_self()), result);
  return result;
}

/* Effects: as pthread_create. The new thread is registered before `call` is called, and `argument`
 * is a root until then. The result of the thread is a root until the thread is joined or detached,
 * if that is done in a file that includes this header, and if the thread ends by returning or by
 * pthread_exit in such a file. If it is joined elsewhere, or by nobody, or cancelled while it is
 * detached, its result stays a root until a new thread has the same pthread_t. Requires: a
 * registered thread. Returns: as pthread_create; EAGAIN also if there is no memory. */
static __inline__ int heapwise_gc_pthread_create(pthread_t* thread,
                                                 const pthread_attr_t* attributes,
                                                 void* (*call)(void*), void* argument) {
  int error;
  int state = PTHREAD_CREATE_JOINABLE;
  size_t number;
  struct heapwise_gc_thread_start* const start =
      (struct heapwise_gc_thread_start*)heapwise_gc_malloc_uncollectable(sizeof *start);
  if (start == NULL) return EAGAIN;
  if (attributes != NULL) pthread_attr_getdetachstate(attributes, &state);
  number = heapwise_gc_add_result(state == PTHREAD_CREATE_DETACHED);
  start->call = call;
  start->argument = argument;
  start->number = number;
  error = number == 0 ? EAGAIN : pthread_create(thread, attributes, heapwise_gc_run_thread, start);
  if (error != 0) {
    heapwise_gc_remove_result(number);
    heapwise_gc_free(start);
    return error;
  }
  /* The thread may not have begun, and the caller may join it at once. */
  heapwise_gc_name_result(number, heapwise_gc_name_of(*thread));
  return 0;
}

/* Effects: ends the thread, as pthread_exit. The result is kept until the thread is joined. */
static __inline__ __attribute__((__noreturn__)) void heapwise_gc_pthread_exit(void* result) {
  heapwise_gc_set_result(heapwise_gc_name_of(pthread_self()), result);
  pthread_exit(result);
}

/* Effects: what comes after pthread_join returned `error`: if that is 0, `*into` is the result, and
 * the cell with this number no longer keeps it. Returns: `error`. */
static __inline__ int heapwise_gc_end_join(int error, size_t number, void* result, void** into) {
  if (error != 0) return error;
  if (into != NULL) *into = result;
  heapwise_gc_remove_result(number);
  return 0;
}

/* Effects: as pthread_join. Returns: as pthread_join. */
static __inline__ int heapwise_gc_pthread_join(pthread_t thread, void** into) {
  void* result = NULL;
  const size_t number = heapwise_gc_find_result(heapwise_gc_name_of(thread));
  const int error = pthread_join(thread, &result);
  return heapwise_gc_end_join(error, number, result, into);
}

#if defined(__USE_GNU) && defined(__GLIBC__)
/* Effects: as pthread_tryjoin_np. Returns: as pthread_tryjoin_np. */
static __inline__ int heapwise_gc_pthread_tryjoin_np(pthread_t thread, void** into) {
  void* result = NULL;
  const size_t number = heapwise_gc_find_result(heapwise_gc_name_of(thread));
  const int error = pthread_tryjoin_np(thread, &result);
  return heapwise_gc_end_join(error, number, result, into);
}

/* Effects: as pthread_timedjoin_np. Returns: as pthread_timedjoin_np. */
static __inline__ int heapwise_gc_pthread_timedjoin_np(pthread_t thread, void** into,
                                                       const struct timespec* until) {
  void* result = NULL;
  const size_t number = heapwise_gc_find_result(heapwise_gc_name_of(thread));
  const int error = pthread_timedjoin_np(thread, &result, until);
  return heapwise_gc_end_join(error, number, result, into);
}

#if __GLIBC_PREREQ(2, 31)
/* Effects: as pthread_clockjoin_np. Returns: as pthread_clockjoin_np. */
static __inline__ int heapwise_gc_pthread_clockjoin_np(pthread_t thread, void** into,
                                                       clockid_t clock,
                                                       const struct timespec* until) {
  void* result = NULL;
  const size_t number = heapwise_gc_find_result(heapwise_gc_name_of(thread));
  const int error = pthread_clockjoin_np(thread, &result, clock, until);
  return heapwise_gc_end_join(error, number, result, into);
}
#endif
#endif

/* Effects: as pthread_detach. The result of the thread is no longer kept. Returns: as
 * pthread_detach. */
static __inline__ int heapwise_gc_pthread_detach(pthread_t thread) {
  heapwise_gc_detach_result(heapwise_gc_name_of(thread));
  return pthread_detach(thread);
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
#undef pthread_exit
#undef pthread_join
#undef pthread_tryjoin_np
#undef pthread_timedjoin_np
#undef pthread_clockjoin_np
#undef pthread_detach
#define malloc(size) heapwise_gc_malloc(size)
#define calloc(count, size) heapwise_gc_calloc(count, size)
#define realloc(block, size) heapwise_gc_realloc(block, size)
#define free(block) heapwise_gc_free(block)
#define aligned_alloc(alignment, size) heapwise_gc_malloc_aligned(alignment, size)
#define strdup(text) heapwise_gc_strdup(text)
#define strndup(text, most) heapwise_gc_strndup(text, most)
#define pthread_create(thread, attributes, start, argument) \
  heapwise_gc_pthread_create(thread, attributes, start, argument)
#define pthread_exit(result) heapwise_gc_pthread_exit(result)
#define pthread_join(thread, into) heapwise_gc_pthread_join(thread, into)
#define pthread_tryjoin_np(thread, into) heapwise_gc_pthread_tryjoin_np(thread, into)
#define pthread_timedjoin_np(thread, into, until) \
  heapwise_gc_pthread_timedjoin_np(thread, into, until)
#define pthread_clockjoin_np(thread, into, clock, until) \
  heapwise_gc_pthread_clockjoin_np(thread, into, clock, until)
#define pthread_detach(thread) heapwise_gc_pthread_detach(thread)

#endif
