/* Small blocks that were freed, and are not handed out again soon.
 *
 *   quarantine owner SIZE    frees a block again, after 64 blocks of its size were asked for
 *   quarantine written SIZE  writes to a freed block, and goes on until somebody else gets it
 *   quarantine again SIZE    says after how many frees a block's address came back, at the earliest
 *   quarantine race SIZE     two threads free the same block at once, again and again: says whether one
 *                            of them was told each time
 *   quarantine empty         says whether threads that end, and malloc_trim, leave blocks held back
 */
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { others = 64, turns = 20000, threads = 12, races = 2000 };

static int owner(size_t size) {
  char* volatile stale = malloc(size);
  printf("%p\n", (void*)stale);
  fflush(stdout);
  free(stale);
  for (int each = 0; each < others; ++each) {
    char* volatile block = malloc(size);
    block[0] = 1;
  }
  free(stale);
  puts("NOT CAUGHT");
  return 0;
}

static int written(size_t size) {
  char* volatile stale = malloc(size);
  free(stale);
  stale[size / 2] = 1;
  for (int turn = 0; turn < turns; ++turn) {
    char* volatile block = malloc(size);
    free(block);
  }
  puts("NOT CAUGHT");
  return 0;
}

static int again(size_t size) {
  enum { remembered = 512 };
  static uintptr_t freed[remembered];
  size_t earliest = remembered;
  for (size_t turn = 0; turn < turns; ++turn) {
    char* volatile block = malloc(size);
    for (size_t ago = 1; ago <= remembered && ago <= turn; ++ago) {
      if (freed[(turn - ago) % remembered] == (uintptr_t)block && ago < earliest) earliest = ago;
    }
    freed[turn % remembered] = (uintptr_t)block;
    free(block);
  }
  printf("%zu\n", earliest);
  return 0;
}

static char* _Atomic contested;
static atomic_int arrived, finished, told;
static __thread sigjmp_buf before_free;

static void leave_report(int number) { siglongjmp(before_free, number); }

static void wait_for(atomic_int* count, int enough) {
  for (unsigned turn = 1; atomic_load(count) < enough; ++turn) {
    if (turn % 4096 == 0) sched_yield(); /* the other thread may have no processor */
  }
}

static void free_together(int race) {
  if (sigsetjmp(before_free, 1) == 0) {
    atomic_fetch_add(&arrived, 1);
    wait_for(&arrived, 2 * race);
    free(contested);
  } else {
    atomic_fetch_add(&told, 1);
  }
  atomic_fetch_add(&finished, 1);
}

static void* free_too(void* unused) {
  for (int race = 1; race <= races; ++race) {
    wait_for(&arrived, 2 * race - 1);
    free_together(race);
  }
  return unused;
}

static int race(size_t size) {
  pthread_t other;
  signal(SIGABRT, leave_report);
  if (pthread_create(&other, NULL, free_too, NULL) != 0) return 1;
  for (int each = 1; each <= races; ++each) {
    contested = memset(malloc(size), 1, size);
    free_together(each);
    wait_for(&finished, 2 * each);
    if (atomic_load(&told) != each) {
      printf("%d of %d races were told\n", atomic_load(&told), each);
      return 2;
    }
  }
  pthread_join(other, NULL);
  puts("done");
  return 0;
}

static void* fill_and_free(void* unused) {
  for (size_t size = 8; size <= 32000; size += size / 8 + 8) {
    char* blocks[20];
    for (int each = 0; each < 20; ++each) blocks[each] = memset(malloc(size), 1, size);
    for (int each = 0; each < 20; ++each) free(blocks[each]);
  }
  return unused;
}

static size_t bytes_in_use(void) { return mallinfo2().uordblks; }

static int empty(void) {
  fill_and_free(NULL);
  malloc_trim(0);
  malloc_trim(0);
  const size_t before = bytes_in_use();
  for (int round = 0; round < 5; ++round) {
    pthread_t started[threads];
    for (int each = 0; each < threads; ++each) {
      if (pthread_create(&started[each], NULL, fill_and_free, NULL) != 0) return 1;
    }
    for (int each = 0; each < threads; ++each) pthread_join(started[each], NULL);
    fill_and_free(NULL);
  }
  malloc_trim(0);
  malloc_trim(0);
  const size_t after = bytes_in_use();
  if (after > before + (256 << 10)) {
    printf("%zu bytes in use, %zu before\n", after, before);
    return 2;
  }
  puts("done");
  return 0;
}

int main(int count, char** words) {
  if (count == 2) return empty();
  const size_t size = strtoul(words[2], NULL, 10);
  if (strcmp(words[1], "owner") == 0) return owner(size);
  if (strcmp(words[1], "race") == 0) return race(size);
  return strcmp(words[1], "written") == 0 ? written(size) : again(size);
}
