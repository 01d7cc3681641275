/* A profiler's timer fires every millisecond and its handler takes a backtrace, which asks the
 * loader for its list of libraries, under the loader's lock; two threads allocate, a third loads and
 * unloads a library, which allocates under that same lock. argv[1]: signals to take. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <malloc.h>
#include <signal.h>
#include <sys/time.h>

#include "program.h"

static atomic_int taken, stop;

static void on_profile(int unused) {
  (void)unused;
  void* frames[32];
  if (backtrace(frames, 32) > 0) atomic_fetch_add(&taken, 1);
}

static void* allocate(void* seed) {
  for (uint64_t i = 0; !atomic_load(&stop); ++i) {
    churn((uint64_t)(uintptr_t)seed + i, 2000);
    if (i % 16 == 0) malloc_trim(0);
  }
  return NULL;
}

static void* load(void* unused) {
  while (!atomic_load(&stop)) {
    void* const library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    REQUIRE(library != NULL);
    REQUIRE(dlclose(library) == 0);
  }
  return unused;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  const int wanted = atoi(argv[1]);
  alarm(120);
  void* frame;
  backtrace(&frame, 1);  /* loads the unwinder now, not in the handler */
  const struct sigaction action = {.sa_handler = on_profile, .sa_flags = SA_RESTART};
  REQUIRE(sigaction(SIGPROF, &action, NULL) == 0);
  pthread_t threads[3];
  start_thread(&threads[0], allocate, (void*)1);
  start_thread(&threads[1], allocate, (void*)2);
  start_thread(&threads[2], load, NULL);
  const struct itimerval every = {{0, 1000}, {0, 1000}};
  REQUIRE(setitimer(ITIMER_PROF, &every, NULL) == 0);
  while (atomic_load(&taken) < wanted) usleep(1000);
  atomic_store(&stop, 1);
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
