/* A file that was written for malloc, compiled so that its memory is the collector's. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_tryjoin_np */
#endif
#include "redirected.h"

#include <stdint.h>
#include <stdio.h>
#include <semaphore.h>
#include <string.h>
#include <time.h>

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

enum { THREADS = 4, NUMBERS = 25000 };

int count_of_ended_threads(void) { return THREADS; }

static int begun;

static void* numbers_of_42(void* unused) {
  int* const numbers = malloc(NUMBERS * sizeof *numbers);
  int each;
  (void)unused;
  __atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
  for (each = 0; each < NUMBERS; ++each) numbers[each] = 42;
  return numbers;
}

static void* exit_with_numbers(void* unused) { pthread_exit(numbers_of_42(unused)); }

/* Effects: waits until all threads have ended, and none is registered any more. */
static void wait_until_ended(void) {
  const struct timespec pause = {0, 1000000};
  heapwise_gc_statistics told;
  do {
    nanosleep(&pause, NULL);
    heapwise_gc_statistics_get(&told);
  } while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < THREADS || told.threads > 1);
}

static void overwrite_what_is_free(void) {
  const size_t bytes = NUMBERS * sizeof(int);
  int each;
  for (each = 0; each < 2; ++each) heapwise_gc_collect();
  for (each = 0; each < 40; ++each) memset(malloc(bytes), 7, bytes);
}

static int join_as(enum end_of_thread end, pthread_t thread, void** into) {
  struct timespec until;
  int error;
  if (end == RETURNS_TO_TIMEDJOIN) {
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += 60;
    return pthread_timedjoin_np(thread, into, &until);
  }
  if (end != RETURNS_TO_TRYJOIN) return pthread_join(thread, into);
  do error = pthread_tryjoin_np(thread, into);
  while (error == EBUSY);
  return error;
}

int results_of_ended_threads(enum end_of_thread end) {
  void* (*const call)(void*) = end == EXITS ? exit_with_numbers : numbers_of_42;
  pthread_t threads[THREADS];
  int intact = 0;
  int each;
  begun = 0;
  for (each = 0; each < THREADS; ++each) {
    if (pthread_create(&threads[each], NULL, call, NULL) != 0) return -1;
  }
  wait_until_ended();
  overwrite_what_is_free();
  for (each = 0; each < THREADS; ++each) {
    void* result = NULL;
    if (join_as(end, threads[each], &result) != 0) return -1;
    intact += ((int*)result)[0] == 42 && ((int*)result)[NUMBERS - 1] == 42;
  }
  return intact;
}

static sem_t may_end;

static void* numbers_when_told(void* unused) {
  sem_wait(&may_end);
  return numbers_of_42(unused);
}

int end_detached_threads(enum time_of_detaching when) {
  pthread_t threads[THREADS];
  pthread_attr_t attributes;
  int each;
  begun = 0;
  sem_init(&may_end, 0, when == DETACHED_RUNNING ? 0 : THREADS);
  pthread_attr_init(&attributes);
  if (when == CREATED_DETACHED) {
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  }
  for (each = 0; each < THREADS; ++each) {
    if (pthread_create(&threads[each], &attributes, numbers_when_told, NULL) != 0) return 0;
  }
  pthread_attr_destroy(&attributes);
  if (when == DETACHED_ENDED) wait_until_ended();
  if (when != CREATED_DETACHED) {
    for (each = 0; each < THREADS; ++each) pthread_detach(threads[each]);
  }
  if (when == DETACHED_RUNNING) {
    for (each = 0; each < THREADS; ++each) sem_post(&may_end);
  }
  wait_until_ended();
  sem_destroy(&may_end);
  return 1;
}
