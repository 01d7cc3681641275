/* Small blocks at the ends of their spans, behind which no access is allowed.
 *
 *   spans behind SIZE   writes from the end of a block that is the last one of its span
 *   spans before SIZE   writes downwards from a block that is the first one of its span
 *   spans child SIZE    as behind, in a child of a fork, whose parent made the span
 *   spans later SIZE    as behind, in a span that was made in the child
 *   spans reused        many blocks of many sizes come and go, and large blocks get their memory
 *   spans gaps SIZE     how many of the first blocks have no neighbour in use
 *   spans far SIZE      how far the tables of the heap lie from each other and from a block
 */
#define _GNU_SOURCE
#include <inttypes.h>
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { most = 20000, slice = 1 << 16 };

static char* blocks[most];
static int many = most;

static int by_address(const void* one, const void* other) {
  const char* const* const a = one;
  const char* const* const b = other;
  return (*a > *b) - (*a < *b);
}

static void fill_spans(size_t size) {
  if (size > 4096) many = most / 8;
  for (int each = 0; each < many; ++each) {
    blocks[each] = malloc(size);
    if (blocks[each] == NULL) exit(3);
  }
  qsort(blocks, (size_t)many, sizeof *blocks, by_address);
}

/* The number of a block that no block of its span follows, while one of another span does. */
static int last_of_a_span(void) {
  const char* const middle = blocks[many / 2];
  ptrdiff_t step = blocks[many / 2 + 1] - middle;
  for (int each = 1; each < many; ++each) {
    if (blocks[each] - blocks[each - 1] < step) step = blocks[each] - blocks[each - 1];
  }
  for (int each = many / 2; each + 1 < many; ++each) {
    if (blocks[each + 1] - blocks[each] != step && (uintptr_t)blocks[each + 1] % slice == 0) {
      return each;
    }
  }
  exit(4);
}

static void print(const void* address) {
  printf("%p\n", address);
  fflush(stdout);
}

static int write_behind_last(void) {
  const int last = last_of_a_span();
  const char* const next = blocks[last + 1];
  print(blocks[last]);
  for (volatile char* at = blocks[last] + malloc_usable_size(blocks[last]); at != next; ++at) *at = 1;
  puts("NOT CAUGHT");
  return 0;
}

static int behind(size_t size) {
  fill_spans(size);
  return write_behind_last();
}

static int before(size_t size) {
  fill_spans(size);
  const int last = last_of_a_span();
  const char* const previous = blocks[last];
  print(blocks[last]);
  for (volatile char* at = blocks[last + 1] - 1; at != previous; --at) *at = 1;
  puts("NOT CAUGHT");
  return 0;
}

static int in_child(size_t size, int makes_spans) {
  if (!makes_spans) fill_spans(size);
  const pid_t child = fork();
  if (child == 0) {
    if (makes_spans) {
      fill_spans(size);
    } else {
      free(blocks[0]); /* the heap of the child works */
    }
    _exit(write_behind_last());
  }
  int status = 0;
  if (waitpid(child, &status, 0) != child) return 5;
  for (int each = 0; each < many; ++each) free(blocks[each]);
  if (WIFSIGNALED(status)) raise(WTERMSIG(status));
  return 6;
}

static int reused(void) {
  for (int round = 0; round < 3; ++round) {
    for (int each = 0; each < many; ++each) {
      const size_t size = 1 + (size_t)each * 7919 % (each % 16 == 0 ? 32000 : 3000);
      blocks[each] = malloc(size);
      if (blocks[each] == NULL) return 7;
      memset(blocks[each], 1, size);
    }
    for (int each = 0; each < many; ++each) free(blocks[each]);
    malloc_trim(0);
    malloc_trim(0); /* the first finds what was not used lately */
    char* large[40];
    for (int each = 0; each < 40; ++each) {
      large[each] = malloc((size_t)3 << 20);
      if (large[each] == NULL) return 8;
      memset(large[each], 2, malloc_usable_size(large[each]));
    }
    for (int each = 0; each < 40; ++each) free(large[each]);
  }
  puts("done");
  return 0;
}

static int gaps(size_t size) {
  many = 64;
  fill_spans(size);
  const ptrdiff_t step = (ptrdiff_t)malloc_usable_size(blocks[0]) + 8; /* and the canary */
  int alone = 0;
  for (int each = 0; each + 1 < many; ++each) alone += blocks[each + 1] - blocks[each] > step;
  printf("%d\n", alone);
  return 0;
}

/* The first mapping of the heap's addresses has its first tables; the block is in the last one. */
static int far(size_t size) {
  const uintptr_t begin = (uintptr_t)66 << 40, end = (uintptr_t)80 << 40;
  const uintptr_t block = (uintptr_t)malloc(size) / slice * slice;
  FILE* const maps = fopen("/proc/self/maps", "r");
  char line[512];
  uintptr_t from = 0, before_it = 0;
  if (maps == NULL || block < begin || block >= end) return 77;
  while (fgets(line, sizeof line, maps) != NULL) {
    if (sscanf(line, "%" SCNxPTR, &from) != 1 || from < begin || from >= end) continue;
    if (before_it != 0) printf("%" PRIxPTR "\n", from - before_it);
    before_it = from;
  }
  fclose(maps);
  return 0;
}

int main(int count, char** words) {
  const char* const use = words[1];
  const size_t size = count > 2 ? strtoul(words[2], NULL, 10) : 0;
  if (strcmp(use, "behind") == 0) return behind(size);
  if (strcmp(use, "before") == 0) return before(size);
  if (strcmp(use, "child") == 0) return in_child(size, 0);
  if (strcmp(use, "later") == 0) return in_child(size, 1);
  if (strcmp(use, "gaps") == 0) return gaps(size);
  return strcmp(use, "far") == 0 ? far(size) : reused();
}
