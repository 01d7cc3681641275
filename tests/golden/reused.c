/* One operation of the heap again and again. The test counts page faults, calls of the system, or
 * instructions.
 * usage: reused calloc BYTES PERCENT TIMES     calloc, write to a part from the begin on, free
 *        reused realloc BYTES STEP TIMES       a block grows by steps from BYTES on, TIMES steps
 *        reused aligned BYTES ALIGNMENT TIMES  blocks that stay
 * Prints the page faults of all but the first time, and how much memory was resident at most, in
 * KiB. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static void use(void* block, size_t bytes) { memset(block, 1, bytes); }

static void once(const char* way, size_t bytes, size_t number, size_t time) {
  static char* growing;
  if (strcmp(way, "calloc") == 0) {
    char* const block = calloc(1, bytes);
    use(block, bytes / 100 * number);
    free(block);
  } else if (strcmp(way, "realloc") == 0) {
    growing = realloc(growing, bytes + time * number);
    if (growing == NULL) exit(3);
  } else {
    void* const block = aligned_alloc(number, bytes);
    if ((size_t)block % number != 0) exit(3);
  }
}

int main(int count, char** words) {
  if (count != 5) return 2;
  const size_t bytes = strtoul(words[2], NULL, 10), number = strtoul(words[3], NULL, 10);
  const size_t times = strtoul(words[4], NULL, 10);
  struct rusage first, last;
  for (size_t time = 0; time < times; ++time) {
    once(words[1], bytes, number, time);
    if (time == 0) getrusage(RUSAGE_SELF, &first);
  }
  getrusage(RUSAGE_SELF, &last);
  printf("%ld %ld\n", last.ru_minflt - first.ru_minflt, last.ru_maxrss);
  return 0;
}
