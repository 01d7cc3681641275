/* glibc's malloc, and a fixed amount of work more in everything that it is loaded into.
 *
 * Every 256th allocation of a thread computes PLANT_STEPS_AT_LOOK steps, and every process that ends
 * by exit computes PLANT_STEPS_AT_END. So what is planted follows what the program does, not the
 * clock, and a busy machine makes it dearer as it does with the program's own work. With 0 steps the
 * library reads the clock as often: that is the baseline.
 *
 * PLANT_RECORD is a file that each process maps: for each program that was started (slot 0 counts
 * them), how often its processes looked and ended, and how much processor time the steps took.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { slots = 1 << 16, allocations_between_looks = 256 };

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void __libc_free(void*);

struct slot {
  _Atomic int64_t started_ns; /* by the monotonic clock; in slot 0, how many programs started */
  _Atomic int64_t paid_ns;
  _Atomic int64_t looks;
  _Atomic int64_t ends;
};

static struct slot* mine;
static int64_t steps_at_look;
static int64_t steps_at_end;
static _Thread_local unsigned allocations __attribute__((tls_model("initial-exec")));

static int64_t read_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void compute(int64_t steps) {
  const int error = errno;
  const int64_t begin_ns = read_ns(CLOCK_THREAD_CPUTIME_ID);
  uint64_t value = 1;
  for (int64_t i = 0; i < steps; ++i) {
    value = value * UINT64_C(6364136223846793005) + 1;
    __asm__ volatile("" : "+r"(value));
  }
  atomic_fetch_add(&mine->paid_ns, read_ns(CLOCK_THREAD_CPUTIME_ID) - begin_ns);
  errno = error;
}

static void count(void) {
  if (++allocations % allocations_between_looks != 0 || mine == NULL) return;
  atomic_fetch_add(&mine->looks, 1);
  compute(steps_at_look);
}

static int64_t number_of(const char* variable) {
  const char* text = getenv(variable);
  return text != NULL ? atoll(text) : 0;
}

__attribute__((constructor)) static void begin(void) {
  const char* file = getenv("PLANT_RECORD");
  if (file == NULL) return;
  const int opened = open(file, O_RDWR | O_CLOEXEC);
  if (opened < 0) return;
  void* mapped =
      mmap(NULL, slots * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, opened, 0);
  close(opened);
  if (mapped == MAP_FAILED) return;
  struct slot* records = mapped;
  steps_at_look = number_of("PLANT_STEPS_AT_LOOK");
  steps_at_end = number_of("PLANT_STEPS_AT_END");
  /* A child, or the next image of a process, belongs to the program that was started first. */
  int64_t number = number_of("PLANT_SLOT");
  if (number <= 0) {
    char text[24];
    number = 1 + atomic_fetch_add(&records[0].started_ns, 1);
    snprintf(text, sizeof text, "%lld", (long long)number);
    setenv("PLANT_SLOT", text, 1);
    if (number < slots) atomic_store(&records[number].started_ns, read_ns(CLOCK_MONOTONIC));
  }
  if (number < slots) mine = &records[number];
}

__attribute__((destructor)) static void end(void) {
  if (mine == NULL) return;
  atomic_fetch_add(&mine->ends, 1);
  compute(steps_at_end);
}

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
