/* Frees much memory in one of several situations, and ends when the heap has given it back without
   being called: by a thread of its own, made without the C library. */
#include <dlfcn.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <time.h>

#include "program.h"

#ifdef STATIC_TLS_BYTES
static __thread char static_storage[STATIC_TLS_BYTES];
#endif

static const size_t much = 64u << 20;
static const long most_kib = 16 << 10;
static __thread int inside_the_heap;

/* The C library's own, under another name, is what the heap must not call either. */
int pthread_create(pthread_t* restrict thread, const pthread_attr_t* restrict attributes,
                   void* (*body)(void*), void* restrict argument) {
  static int (*real)(pthread_t* restrict, const pthread_attr_t* restrict, void* (*)(void*),
                     void* restrict);
  REQUIRE(!inside_the_heap);
  if (real == NULL) *(void**)&real = dlsym(RTLD_NEXT, "pthread_create");
  REQUIRE(real != NULL);
  return real(thread, attributes, body, argument);
}

static void wait_a_moment(void) {
  const struct timespec moment = {.tv_nsec = 2 * 1000 * 1000};
  nanosleep(&moment, NULL);
}

static void wait_until_given_back(void) {
  while (resident_kib() > most_kib) wait_a_moment();
}

static int threads_of_process(void) {
  int count = 0;
  DIR* const tasks = opendir("/proc/self/task");
  REQUIRE(tasks != NULL);
  for (struct dirent* each; (each = readdir(tasks)) != NULL;) count += each->d_name[0] != '.';
  closedir(tasks);
  return count;
}

static void free_much(void) {
  char* const block = malloc(much);
  REQUIRE(block != NULL);
  memset(block, 1, much);
  inside_the_heap = 1;
  errno = 4321;
  free(block);
  REQUIRE(errno == 4321);
  inside_the_heap = 0;
}

/* The C library frees the thread-local variables of a thread that ended while it holds a lock that
   pthread_create takes: with a stack as large as this it keeps neither. */
static void* touch_plugin(void* plugin) {
  char* (*storage)(size_t*);
  *(void**)&storage = dlsym(plugin, "storage");
  REQUIRE(storage != NULL);
  size_t size;
  char* const bytes = storage(&size);
  memset(bytes, 1, size);
  return NULL;
}

static void end_thread_with_variables(const char* path) {
  void* const plugin = dlopen(path, RTLD_NOW);
  REQUIRE(plugin != NULL);
  pthread_attr_t large;
  pthread_attr_init(&large);
  pthread_attr_setstacksize(&large, 128u << 20);
  pthread_t thread;
  REQUIRE(pthread_create(&thread, &large, touch_plugin, plugin) == 0);
  REQUIRE(pthread_join(thread, NULL) == 0);
}

int main(int count, char** words) {
  REQUIRE(count >= 2);
  REQUIRE(malloc(1) != NULL);
#ifdef STATIC_TLS_BYTES
  memset(static_storage, 1, sizeof static_storage);
#endif
  if (strcmp(words[1], "free") == 0) {
    free_much();
  } else {
    REQUIRE(count == 3 && strcmp(words[1], "thread") == 0);
    end_thread_with_variables(words[2]);
  }
  wait_until_given_back();
  while (threads_of_process() > 1) wait_a_moment(); /* an idle process has no hidden thread */
  if (strcmp(words[1], "free") == 0) {              /* and the next need starts another one */
    free_much();
    wait_until_given_back();
  }
  puts("done");
  return 0;
}
