/* Threads free wrongly, again and again, and use the heap between their faults.
 *
 *   storm THREADS FAULTS  says how many faults were told, how many not, and how many legal blocks
 *                         were changed; each thread plants so many faults
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kinds = 4, legal_blocks = 16, most_threads = 16 };

static int faults;
static atomic_int told, missed, changed;
static __thread sigjmp_buf before_fault;

static void leave_report(int number) { siglongjmp(before_fault, number); }

static void plant(int kind, size_t bytes) {
  char* volatile block = malloc(bytes);
  char local[64];
  if (kind == 0) {
    free(block);
    free(block);
  } else if (kind == 1) {
    free(block + 16);
  } else if (kind == 2) {
    free((void*)((uintptr_t)(local + 31) & ~(uintptr_t)15));
  } else {
    free(block);
    block = realloc(block, 2 * bytes);
  }
}

static void use_legally(int seed) {
  char* blocks[legal_blocks];
  for (int each = 0; each < legal_blocks; ++each) {
    blocks[each] = malloc(32 + (size_t)(each * 48));
    memset(blocks[each], seed + each, 32);
  }
  for (int each = 0; each < legal_blocks; ++each) {
    for (int at = 0; at < 32; ++at) {
      if (blocks[each][at] != (char)(seed + each)) atomic_fetch_add(&changed, 1);
    }
    free(blocks[each]);
  }
}

static void* run(void* number) {
  for (volatile int fault = 0; fault < faults; ++fault) {
    if (sigsetjmp(before_fault, 1) == 0) {
      plant(fault % kinds, 64 + (size_t)(fault % 7) * 128);
      atomic_fetch_add(&missed, 1);
    } else {
      atomic_fetch_add(&told, 1);
    }
    use_legally((int)(uintptr_t)number * 31 + fault);
  }
  return NULL;
}

int main(int count, char** words) {
  if (count != 3) return 2;
  const int threads = atoi(words[1]);
  faults = atoi(words[2]);
  pthread_t started[most_threads];
  signal(SIGABRT, leave_report);
  for (uintptr_t each = 0; each < (uintptr_t)threads; ++each) {
    if (pthread_create(&started[each], NULL, run, (void*)each) != 0) return 1;
  }
  for (int each = 0; each < threads; ++each) pthread_join(started[each], NULL);
  printf("%d %d %d\n", atomic_load(&told), atomic_load(&missed), atomic_load(&changed));
  return 0;
}
