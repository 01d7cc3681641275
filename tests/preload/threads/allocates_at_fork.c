/* As a library (-DLIBRARY), it registers handlers of fork when it is loaded, before it has called
   malloc; they allocate. The program forks while it has two threads. */
#include "program.h"

#ifdef LIBRARY

static void allocate(void) {
  for (size_t size = 1; size < 100000; size += size / 8 + 7) {
    void* const block = malloc(size);
    REQUIRE(block != NULL);
    free(block);
  }
}

__attribute__((constructor)) static void prepare(void) {
  REQUIRE(pthread_atfork(allocate, allocate, allocate) == 0);
}

#else

#include <semaphore.h>
#include <sys/wait.h>

static sem_t forked;

static void* wait_for_fork(void* unused) {
  free(malloc(10));
  sem_wait(&forked);
  return unused;
}

int main(void) {
  sem_init(&forked, 0, 0);
  pthread_t thread;
  start_thread(&thread, wait_for_fork, NULL);
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(0);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  sem_post(&forked);
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}

#endif
