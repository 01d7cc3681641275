/* How many threads the heap counts: in a process of several threads, and in a child of fork. */
#include <dlfcn.h>
#include <sys/wait.h>

#include "../../../include/heapwise/malloc.h"
#include "program.h"

enum { others = 5 };
static pthread_barrier_t barrier;

/* More than one block: a profile may serve a few of them without a cache. */
static void use_heap(void) {
  for (int i = 0; i < 500; ++i) {
    void* volatile block = malloc(100);
    free(block);
  }
}

static void* wait_with_cache(void* none) {
  use_heap();
  pthread_barrier_wait(&barrier); /* each has a cache */
  pthread_barrier_wait(&barrier); /* the child was made */
  return none;
}

static size_t threads(void) {
  void (*get)(heapwise_malloc_statistics*) =
      (void (*)(heapwise_malloc_statistics*))dlsym(RTLD_DEFAULT, "heapwise_malloc_statistics_get");
  heapwise_malloc_statistics now;
  REQUIRE(get != NULL);
  get(&now);
  return now.threads;
}

static void begin(pthread_t* crew) {
  pthread_barrier_init(&barrier, NULL, others + 1);
  for (int i = 0; i < others; ++i) REQUIRE(pthread_create(&crew[i], NULL, wait_with_cache, NULL) == 0);
  pthread_barrier_wait(&barrier);
}

static void end(pthread_t* crew) {
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < others; ++i) REQUIRE(pthread_join(crew[i], NULL) == 0);
}

int main(void) {
  pthread_t crew[others];
  use_heap();
  begin(crew);
  REQUIRE(threads() == others + 1);
  const pid_t child = fork();
  if (child == 0) {
    REQUIRE(threads() == 1);
    pthread_t own[others];
    begin(own);
    REQUIRE(threads() == others + 1);
    end(own);
    REQUIRE(threads() == 1);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
  REQUIRE(threads() == others + 1);
  end(crew);
  REQUIRE(threads() == 1);
  puts("done");
  return 0;
}
