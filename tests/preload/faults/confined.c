/* After its first malloc the program may ask the system for memory, wait, read, write and leave, and
 * nothing else: the process is killed for any other call. argv[1]: "moves" allows mremap too. */
#include "filter.h"

static const long allowed[] = {SYS_brk,  SYS_mmap, SYS_munmap, SYS_mprotect,   SYS_madvise, SYS_futex,
                               SYS_exit, SYS_read, SYS_write,  SYS_exit_group, SYS_rt_sigprocmask};

static void confine(int moves) {
  struct filter filter = {.count = 0};
  for (size_t i = 0; i < sizeof allowed / sizeof *allowed; ++i) {
    answer_to(&filter, allowed[i], SECCOMP_RET_ALLOW);
  }
  if (moves) answer_to(&filter, SYS_mremap, SECCOMP_RET_ALLOW);
  answer(&filter, SECCOMP_RET_KILL_PROCESS);
  install(&filter);
}

static pthread_barrier_t start;

static void* work(void* seed) {
  pthread_barrier_wait(&start);
  for (uint64_t i = 0; i < 5; ++i) churn((uint64_t)(uintptr_t)seed + i, 2000);
  free(malloc((size_t)200 << 20));
  return NULL;
}

/* A filter holds for its thread and those that it starts: each confines itself. */
static void* work_confined(void* moves) {
  confine(moves != NULL);
  return work((void*)7);
}

int main(int argc, char** argv) {
  alarm(120);
  const int moves = argc > 1 && strcmp(argv[1], "moves") == 0;
  free(malloc(100));
  pthread_barrier_init(&start, NULL, 2);
  pthread_t thread;
  start_thread(&thread, work_confined, moves ? argv : NULL);
  confine(moves);
  work((void*)1);
  if (moves) free(realloc(malloc(3000000), 50000000));
  pthread_join(thread, NULL);
  return write(1, "done\n", 5) == 5 ? 0 : 1;
}
