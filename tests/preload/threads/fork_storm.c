/* Four threads fork, eight allocate, one flushes all streams (which takes locks of its own); it
 * begins with the first call of malloc, when an allocator sets itself up. A child allocates, frees
 * what it inherited and makes threads. argv[1]: forks of each thread;
 * argv[2]: seconds that a child may take. */
#include <sys/wait.h>

#include "program.h"

enum { forkers = 4, allocators = 8, inherited = 50 };

static pthread_barrier_t start;
static atomic_int forks_left;
static int forks_each;
static unsigned patience_s;

static void* child_thread(void* seed) {
  churn((uint64_t)(uintptr_t)seed, 100);
  return NULL;
}

static void child(unsigned char** blocks) {
  alarm(patience_s);
  for (int i = 0; i < inherited; ++i) free_signed(blocks[i]);
  churn((uint64_t)getpid(), 100);
  pthread_t threads[2];
  for (uintptr_t i = 0; i < 2; ++i) start_thread(&threads[i], child_thread, (void*)(i + 1));
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  _exit(0);
}

static void* fork_often(void* seed) {
  pthread_barrier_wait(&start);
  uint64_t state = (uint64_t)(uintptr_t)seed;
  for (int i = 0; i < forks_each; ++i) {
    unsigned char* blocks[inherited];
    for (int k = 0; k < inherited; ++k) blocks[k] = signed_block(draw_size(&state));
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) child(blocks);
    for (int k = 0; k < inherited; ++k) free_signed(blocks[k]);
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    REQUIRE(status == 0);
  }
  atomic_fetch_sub(&forks_left, 1);
  return NULL;
}

static void* allocate(void* seed) {
  pthread_barrier_wait(&start);
  uint64_t state = (uint64_t)(uintptr_t)seed;
  while (atomic_load(&forks_left) > 0) churn(draw(&state), 200);
  return NULL;
}

static void* flush(void* unused) {
  pthread_barrier_wait(&start);
  while (atomic_load(&forks_left) > 0) {
    fflush(NULL);
    usleep(100);  /* leaves the streams' lock to those who fork, which glibc's queue does not */
  }
  return unused;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 3);
  forks_each = atoi(argv[1]);
  patience_s = (unsigned)atoi(argv[2]);
  alarm(120);
  atomic_store(&forks_left, forkers);
  pthread_barrier_init(&start, NULL, forkers + allocators + 1);
  pthread_t threads[forkers + allocators + 1];
  pthread_t* next = threads;
  for (uintptr_t i = 0; i < forkers; ++i) start_thread(next++, fork_often, (void*)(i + 1));
  for (uintptr_t i = 0; i < allocators; ++i) start_thread(next++, allocate, (void*)(i + 77));
  start_thread(next++, flush, NULL);
  for (pthread_t* each = threads; each < next; ++each) pthread_join(*each, NULL);
  puts("done");
  return 0;
}
