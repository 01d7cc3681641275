/* Lives with a system that refuses memory: every call either works or says ENOMEM; nothing that was
 * there is lost; free never minds. argv[1]: small, large or threads. argv[2] "recovers": at the end
 * the system gives memory again, so malloc has to. "later" ERRNO CALL: after the first malloc the
 * system refuses the call with this number. Prints "done", and how many calls failed. */
#include <errno.h>
#include <malloc.h>

#include "filter.h"

static atomic_int refused;

static void* or_enomem(void* block) {
  if (block == NULL) {
    REQUIRE(errno == ENOMEM);
    atomic_fetch_add(&refused, 1);
  }
  return block;
}

static void fill(unsigned char* block, size_t size, unsigned char value) {
  if (block == NULL || size == 0) return;
  block[0] = block[size - 1] = value;
  for (size_t i = 0; i < size; i += 512) block[i] = value;
}

static void expect(const unsigned char* block, size_t size, unsigned char value) {
  if (block == NULL || size == 0) return;
  REQUIRE(block[0] == value && block[size - 1] == value);
  for (size_t i = 0; i < size; i += 512) REQUIRE(block[i] == value);
}

static void free_keeping_errno(void* block) {
  errno = 4321;
  free(block);
  REQUIRE(errno == 4321);
}

enum { most = 4000 };
struct kept {
  unsigned char* block;
  size_t size;
};

static void check_and_free(struct kept* all, int count) {
  for (int i = 0; i < count; ++i) {
    expect(all[i].block, all[i].size, (unsigned char)(i + 1));
    free_keeping_errno(all[i].block);
  }
}

static void small_blocks(struct kept* all, uint64_t seed, int count) {
  for (int i = 0; i < count; ++i) {
    all[i].size = draw(&seed) % (i % 50 == 0 ? 9000 : 600);
    errno = 0;
    all[i].block = or_enomem(i % 3 == 0 ? calloc(1, all[i].size) : malloc(all[i].size));
    if (i % 3 == 0) expect(all[i].block, all[i].size, 0);
    fill(all[i].block, all[i].size, (unsigned char)(i + 1));
  }
  check_and_free(all, count);
}

static void large_blocks(struct kept* all, uint64_t seed, int count) {
  for (int i = 0; i < count; ++i) {
    struct kept* const each = &all[i];
    each->size = 1 + draw(&seed) % 3000000;
    errno = 0;
    switch (i % 4) {
      case 0: each->block = or_enomem(calloc(1, each->size)); break;
      case 1: each->block = or_enomem(memalign(1u << (4 + draw(&seed) % 14), each->size)); break;
      default: each->block = or_enomem(malloc(each->size));
    }
    if (i % 4 == 0) expect(each->block, each->size, 0);
    fill(each->block, each->size, (unsigned char)(i + 1));
  }
  for (int i = 0; i < count; ++i) {
    struct kept* const each = &all[i];
    if (each->block == NULL) continue;
    const size_t wanted = i % 2 == 0 ? each->size * 2 : each->size / 2 + 1;
    errno = 0;
    unsigned char* const new_block = or_enomem(realloc(each->block, wanted));
    if (new_block == NULL) continue;  /* what was there stays as it was, and is checked below */
    each->block = new_block;
    fill(new_block, each->size = wanted, (unsigned char)(i + 1));
  }
  check_and_free(all, count);
}

static void* small_in_a_thread(void* seed) {
  struct kept all[1000];
  for (int round = 0; round < 3; ++round) small_blocks(all, (uintptr_t)seed + 1, 1000);
  return NULL;
}

static void threads(void) {
  pthread_t some[6];
  int started[6];
  pthread_attr_t small;  /* few enough stacks for the C library to keep: it aborts if munmap fails */
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 * 1024);
  for (uintptr_t i = 0; i < 6; ++i) {
    started[i] = pthread_create(&some[i], &small, small_in_a_thread, (void*)i) == 0;
  }
  for (int i = 0; i < 6; ++i) {
    if (started[i]) pthread_join(some[i], NULL);
  }
}

static void refuse_later(const char* error, const char* call) {
  static struct filter filter;
  free(malloc(100));
  answer_to(&filter, atol(call), SECCOMP_RET_ERRNO | (uint32_t)atoi(error));
  answer(&filter, SECCOMP_RET_ALLOW);
  install(&filter);
}

int main(int argc, char** argv) {
  REQUIRE(argc >= 2);
  if (argc == 5 && strcmp(argv[2], "later") == 0) refuse_later(argv[3], argv[4]);
  static struct kept all[most];
  alarm(120);
  for (int round = 0; round < 2; ++round) {
    if (strcmp(argv[1], "small") == 0) small_blocks(all, (uint64_t)round, most);
    if (strcmp(argv[1], "large") == 0) large_blocks(all, (uint64_t)round, 24);
    if (strcmp(argv[1], "threads") == 0) threads();
    malloc_trim(0);
  }
  if (argc > 2 && strcmp(argv[2], "recovers") == 0) {
    void* const first = malloc(50000);
    void* const second = malloc(3000000);
    REQUIRE(first != NULL && second != NULL);
    free_keeping_errno(first);
    free_keeping_errno(second);
  }
  char line[64];
  const int length = snprintf(line, sizeof line, "done %d\n", atomic_load(&refused));
  return write(1, line, (size_t)length) == length ? 0 : 1;
}
