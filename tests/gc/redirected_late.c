/* A redirected file whose thread begins only when it is told to: what it is started with has no
 * address but one that the collector cannot find. */
#include "redirected.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>

static int start_late(pthread_t* thread, const pthread_attr_t* attributes, void* (*call)(void*),
                      void* argument);

/* What the header calls to start a thread. */
#define pthread_create(thread, attributes, call, argument) \
  start_late(thread, attributes, call, argument)
#include <heapwise/gc_redirect.h>

static void* (*late_call)(void*);
static uintptr_t late_argument; /* its complement */
static pthread_t late_thread;
static sem_t may_begin;

static void* begin_late(void* unused) {
  (void)unused;
  sem_wait(&may_begin);
  return late_call((void*)~late_argument);
}

static int start_late(pthread_t* thread, const pthread_attr_t* attributes, void* (*call)(void*),
                      void* argument) {
  late_call = call;
  late_argument = ~(uintptr_t)argument;
  return (pthread_create)(thread, attributes, begin_late, NULL);
}

static void* number_of(void* argument) { return *(void**)argument; }

int start_a_late_thread(size_t number) {
  void** const argument = malloc(64);
  *argument = (void*)(uintptr_t)number;
  if (sem_init(&may_begin, 0, 0) != 0) return 0;
  return pthread_create(&late_thread, NULL, number_of, argument) == 0;
}

size_t number_of_late_thread(void) {
  void* number = NULL;
  sem_post(&may_begin);
  pthread_join(late_thread, &number);
  sem_destroy(&may_begin);
  return (size_t)(uintptr_t)number;
}
