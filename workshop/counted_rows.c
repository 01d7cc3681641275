/* Work of the heap's second level, once for each process, under the malloc that is preloaded.
 * usage: counted_rows free BYTES BLOCKS random|ordered   blocks are allocated, then all freed
 *        counted_rows calloc BYTES TIMES                  calloc, write to all of it, free
 *        counted_rows threads NUMBER used|silent          threads that used many sizes, and wait
 * Prints the processor time of the work in ns, its page faults, and what is resident behind it in
 * KiB. `free_all` is where instructions are counted. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { STEPS = 40000, HELD = 2000, WAIT_S = 4 };

static void fail(const char* what) {
  fprintf(stderr, "counted_rows: %s\n", what);
  exit(3);
}

static void* get(size_t bytes) {
  void* const block = malloc(bytes);
  if (block == NULL) fail("malloc gave nothing");
  memset(block, 1, bytes);
  return block;
}

static unsigned long long state = 88172645463325252ULL;

static size_t below(size_t limit) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state % limit;
}

__attribute__((noinline)) void free_all(void** blocks, size_t count) {
  for (size_t i = 0; i < count; ++i) free(blocks[i]);
}

static void free_blocks(size_t bytes, size_t count, int shuffled) {
  void** const blocks = get(count * sizeof(void*));
  for (size_t i = 0; i < count; ++i) blocks[i] = get(bytes);
  for (size_t i = count - 1; shuffled && i > 0; --i) {
    const size_t other = below(i + 1);
    void* const kept = blocks[i];
    blocks[i] = blocks[other];
    blocks[other] = kept;
  }
  free_all(blocks, count);
  free(blocks);
}

static void use_zeroed(size_t bytes, size_t times) {
  for (size_t i = 0; i < times; ++i) {
    char* const block = calloc(1, bytes);
    if (block == NULL) fail("calloc gave nothing");
    for (size_t at = 0; i > 0 && at < bytes; at += 4096) {
      if (block[at] != 0) fail("calloc gave what is not zero");
    }
    memset(block, 1, bytes);
    free(block);
  }
}

static pthread_barrier_t all_done;
static pthread_mutex_t one_works = PTHREAD_MUTEX_INITIALIZER;

/* Blocks of up to 8 KiB at random, most of them small; one thread after the other, as a pool of
 * threads takes its tasks. */
static void use_many_sizes(void) {
  static void* held[HELD];
  for (size_t step = 0; step < STEPS; ++step) {
    void** const slot = &held[below(HELD)];
    free(*slot);
    *slot = get(16 + below(below(4) == 0 ? 8192 : 256));
  }
  for (size_t i = 0; i < HELD; ++i) {
    free(held[i]);
    held[i] = NULL;
  }
}

static void* work_and_wait(void* used) {
  pthread_mutex_lock(&one_works);
  if (used != NULL) use_many_sizes();
  pthread_mutex_unlock(&one_works);
  pthread_barrier_wait(&all_done);
  for (;;) pause();
  return NULL;
}

static void start_threads(size_t count, int used) {
  pthread_barrier_init(&all_done, NULL, (unsigned)count + 1);
  for (size_t i = 0; i < count; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work_and_wait, used ? &all_done : NULL) != 0) {
      fail("no thread");
    }
  }
  pthread_barrier_wait(&all_done);
  sleep(WAIT_S);
}

static long resident_kib(void) {
  char line[128];
  long kib = -1;
  FILE* const status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) {
    if (sscanf(line, "VmRSS: %ld", &kib) == 1) break;
  }
  return kib;
}

static long long processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int main(int count, char** words) {
  if (count < 4) fail("two more words are needed");
  const size_t first = strtoul(words[2], NULL, 10), second = strtoul(words[3], NULL, 10);
  free(get(16)); /* the malloc has started */
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  const long long begin = processor_ns();
  if (strcmp(words[1], "free") == 0) {
    free_blocks(first, second, count > 4 && strcmp(words[4], "random") == 0);
  } else if (strcmp(words[1], "calloc") == 0) {
    use_zeroed(first, second);
  } else if (strcmp(words[1], "threads") == 0) {
    start_threads(first, strcmp(words[3], "used") == 0);
  } else {
    fail("unknown work");
  }
  const long long end = processor_ns();
  getrusage(RUSAGE_SELF, &after);
  printf("%lld %ld %ld\n", end - begin, after.ru_minflt - before.ru_minflt, resident_kib());
  fflush(stdout);
  _exit(0);
}
