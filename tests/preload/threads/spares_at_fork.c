/* Forks while many threads use batches of free blocks, and a clock that ticks fast takes from them
 * the spare ones. A child writes to all that it gets from the heap, and ends when its own clock has
 * taken what the threads that it does not have left behind, and is gone. argv[1]: forks. */
#include <dirent.h>
#include <sys/wait.h>
#include <time.h>

#include "program.h"

enum { workers = 24, sizes = 4, burst = 400, child_blocks = 4000 };

static const size_t size_of[sizes] = {64, 512, 2048, 8192};
static atomic_int forks_left;

static void wait_ms(long ms) {
  const struct timespec moment = {.tv_nsec = ms * 1000 * 1000};
  nanosleep(&moment, NULL);
}

static int threads_of_process(void) {
  int count = 0;
  DIR* const tasks = opendir("/proc/self/task");
  REQUIRE(tasks != NULL);
  for (struct dirent* each; (each = readdir(tasks)) != NULL;) count += each->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* Fills and empties more than two batches of a size. */
static void use_batches(size_t size) {
  static __thread unsigned char* blocks[burst];
  for (int i = 0; i < burst; ++i) blocks[i] = signed_block(size);
  for (int i = 0; i < burst; ++i) free_signed(blocks[i]);
}

static void* work(void* seed) {
  uint64_t state = (uint64_t)(uintptr_t)seed;
  while (atomic_load(&forks_left) > 0) {
    for (int i = 0; i < sizes; ++i) use_batches(size_of[i]);
    if (draw(&state) % 4 == 0) wait_ms(10);
  }
  return NULL;
}

/* A block that two have would lose the signature of one of them. */
static void child(void) {
  alarm(30);
  for (int i = 0; i < sizes; ++i) {
    static unsigned char* blocks[child_blocks];
    for (int k = 0; k < child_blocks; ++k) {
      blocks[k] = signed_block(size_of[i]);
      memcpy(blocks[k] + 8, &blocks[k], sizeof blocks[k]);
    }
    for (int k = 0; k < child_blocks; ++k) {
      REQUIRE(memcmp(blocks[k] + 8, &blocks[k], sizeof blocks[k]) == 0);
      free_signed(blocks[k]);
    }
  }
  for (int i = 0; i < 100 && threads_of_process() == 1; ++i) use_batches(size_of[sizes - 1]);
  while (threads_of_process() > 1) wait_ms(2);
  _exit(0);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  alarm(100);
  const int forks = atoi(argv[1]);
  atomic_store(&forks_left, forks);
  pthread_t threads[workers];
  for (uintptr_t i = 0; i < workers; ++i) start_thread(&threads[i], work, (void*)(i + 1));
  for (; atomic_load(&forks_left) > 0; atomic_fetch_sub(&forks_left, 1)) {
    wait_ms(5);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) child();
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    REQUIRE(status == 0);
  }
  for (int i = 0; i < workers; ++i) pthread_join(threads[i], NULL);
  puts("done");
  return 0;
}
