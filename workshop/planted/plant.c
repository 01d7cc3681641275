/* glibc's malloc, and PLANT_PERCENT percent more processor time in everything that it is loaded into.
 *
 * Every 256th allocation of a thread looks at the processor time of the process, and computes until
 * the planted share of it is paid. So the effect has the same share in the start and in the end of a
 * program, and a program that a busy machine slows down gets more of it. The rest is paid at exit.
 * With 0 percent the library looks as often, and computes nothing: that is the baseline.
 *
 * PLANT_RECORD is a file that each process maps: how much was really paid, for each program that was
 * started (slot 0 counts them), by all processes that descend from it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { slots = 1 << 16, allocations_between_looks = 256, steps_between_looks = 20000 };
static const int64_t least_debt_ns = 500000;

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

struct slot {
  _Atomic int64_t started_ns; /* by the monotonic clock; in slot 0, how many programs started */
  _Atomic int64_t paid_ns;
};

static struct slot* records;
static struct slot* mine;
static double share;
static int64_t begun_ns;
static _Atomic int64_t paid_ns;
static atomic_flag paying = ATOMIC_FLAG_INIT;
static _Thread_local unsigned allocations __attribute__((tls_model("initial-exec")));

static int64_t read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void compute(int64_t debt_ns) {
  const int64_t begin_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
  int64_t spent_ns = 0;
  uint64_t value = 1;
  while (spent_ns < debt_ns) {
    for (int i = 0; i < steps_between_looks; ++i) {
      value = value * UINT64_C(6364136223846793005) + 1;
      __asm__ volatile("" : "+r"(value));
    }
    spent_ns = read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns;
  }
  atomic_fetch_add(&paid_ns, spent_ns);
  atomic_fetch_add(&mine->paid_ns, spent_ns);
}

static void look(int64_t least_ns) {
  if (mine == NULL || atomic_flag_test_and_set(&paying)) return;
  const int error = errno;
  const int64_t paid = atomic_load(&paid_ns);
  const int64_t own_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID) - begun_ns - paid;
  const int64_t debt_ns = (int64_t)((double)own_ns * share) - paid;
  if (debt_ns >= least_ns) compute(debt_ns);
  errno = error;
  atomic_flag_clear(&paying);
}

static void count(void) {
  if (++allocations % allocations_between_looks == 0) look(least_debt_ns);
}

static void in_child(void) {
  begun_ns = 0;
  atomic_store(&paid_ns, 0);
  atomic_flag_clear(&paying);
}

__attribute__((constructor)) static void begin(void) {
  const char* percent = getenv("PLANT_PERCENT");
  const char* file = getenv("PLANT_RECORD");
  if (percent == NULL || file == NULL) return;
  const int opened = open(file, O_RDWR | O_CLOEXEC);
  if (opened < 0) return;
  void* mapped =
      mmap(NULL, slots * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  close(opened);
  if (mapped == MAP_FAILED) return;
  records = mapped;
  share = atof(percent) / 100;
  const char* known = getenv("PLANT_SLOT");
  long number = known != NULL ? atol(known) : 0;
  if (number > 0) {
    /* It may be the next image of a process that has paid for its time so far. */
    begun_ns = read_ns(CLOCK_PROCESS_CPUTIME_ID);
  } else {
    char text[24];
    number = 1 + (long)atomic_fetch_add(&records[0].started_ns, 1);
    snprintf(text, sizeof text, "%ld", number);
    setenv("PLANT_SLOT", text, 1);
    if (number < slots) atomic_store(&records[number].started_ns, read_ns(CLOCK_MONOTONIC));
  }
  pthread_atfork(NULL, NULL, in_child);
  if (number < slots) mine = &records[number];
}

__attribute__((destructor)) static void end(void) { look(1); }

void* malloc(size_t size) {
  count();
  return __libc_malloc(size);
}

void* calloc(size_t number, size_t size) {
  count();
  return __libc_calloc(number, size);
}

void* realloc(void* block, size_t size) {
  count();
  return __libc_realloc(block, size);
}

void free(void* block) { __libc_free(block); }

void* memalign(size_t alignment, size_t size) {
  count();
  return __libc_memalign(alignment, size);
}

void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void** block, size_t alignment, size_t size) {
  const size_t words = alignment / sizeof(void*);
  if (alignment % sizeof(void*) != 0 || words == 0 || (words & (words - 1)) != 0) return EINVAL;
  void* found = memalign(alignment, size);
  if (found == NULL) return ENOMEM;
  *block = found;
  return 0;
}
