/* Large blocks with a page without access behind them.
 *
 *   large behind SIZE HOW     writes a byte behind the block that was made so, after all of its own
 *   large before SIZE         writes a byte before a block that others were made before
 *   large steps SIZE          how far blocks that are made one after the other lie from each other
 *   large limited             as legal, after the limit of data was set to what is in use
 *   large quiet               blocks of one length come and go, while a call that hides a page or
 *                             shows it ends the process
 *   large waiting             says what the page behind a block is while the block is in use, when
 *                             it was freed, and when its memory went back
 *   large legal               many blocks, resized and freed, each written to its last usable byte
 */
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static void fill(volatile char* block) {
  const size_t bytes = malloc_usable_size((void*)block);
  for (size_t at = 0; at < bytes; at += 512) block[at] = 1;
  block[bytes - 1] = 1;
}

static volatile char* made(size_t size, const char* how) {
  if (strcmp(how, "malloc") == 0) return malloc(size);
  if (strcmp(how, "calloc") == 0) return calloc(1, size);
  if (strcmp(how, "aligned") == 0) return aligned_alloc(1 << 20, size);
  if (strcmp(how, "again") == 0) {
    for (int each = 0; each < 5; ++each) free(malloc(size));
    return malloc(size);
  }
  char* block = malloc(strcmp(how, "shrunk") == 0 ? 3 * size : size / 3);
  if (strcmp(how, "moved") == 0) { /* what is behind it is in use */
    char* next = malloc(size / 3);
    next[0] = 1;
  }
  return realloc(block, size); /* grown, moved, shrunk */
}

static int behind(size_t size, const char* how) {
  volatile char* block = made(size, how);
  fill(block);
  volatile char* target = block + malloc_usable_size((void*)block);
  printf("%p\n", (void*)target);
  fflush(stdout);
  *target = 1;
  puts("NOT CAUGHT");
  return 0;
}

static int before(size_t size) {
  enum { neighbours = 16 };
  volatile char* highest = NULL;
  for (int each = 0; each < neighbours; ++each) {
    volatile char* const block = malloc(size);
    if (block > highest) highest = block;
  }
  printf("%p\n", (void*)(highest - 1));
  fflush(stdout);
  highest[-1] = 1;
  puts("NOT CAUGHT");
  return 0;
}

static int steps(size_t size) {
  enum { neighbours = 64 };
  const char* last = malloc(size);
  for (int each = 0; each < neighbours; ++each) {
    const char* const block = malloc(size);
    printf("%td\n", block - last);
    last = block;
  }
  return 0;
}

enum { many = 20000, kept = 64 };

static int legal(void) {
  static char* blocks[many];
  for (size_t each = 0; each < many; ++each) { /* more than the heap guards */
    blocks[each] = malloc(40000);
    if (blocks[each] == NULL) return 1;
    blocks[each][0] = 1;
  }
  for (size_t each = 0; each < many; ++each) free(blocks[each]);
  memset(blocks, 0, sizeof blocks);
  uint64_t random = 1;
  for (int turn = 0; turn < 20000; ++turn) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    char** one = &blocks[(random >> 33) % kept];
    const size_t size = 1 + ((random >> 20) % (1u << 10) << ((random >> 40) % 13));
    switch ((random >> 60) % 4) {
      case 0:
        free(*one);
        *one = calloc(1, size);
        for (size_t at = 0; at < size; at += 4096) {
          if ((*one)[at] != 0) return 2;
        }
        break;
      case 1:
        free(*one);
        *one = aligned_alloc((size_t)1 << (random >> 50) % 21, size);
        break;
      default:
        *one = realloc(*one, size);
    }
    if (*one == NULL) return 3;
    fill(*one);
  }
  puts("done");
  return 0;
}

/* A hidden page does not count as data, and may be refused when it is to be shown again. */
static int limited(void) {
  enum { first = 200 };
  static char* blocks[first];
  for (size_t each = 0; each < first; ++each) {
    blocks[each] = malloc(300000);
    if (blocks[each] == NULL) return 1;
    fill(blocks[each]);
  }
  const struct rlimit none = {.rlim_cur = 4096, .rlim_max = RLIM_INFINITY};
  if (setrlimit(RLIMIT_DATA, &none) != 0) return 2;
  for (size_t each = 0; each < first; ++each) {
    char* const other = realloc(blocks[each], each % 2 == 0 ? 100000 : 500000);
    if (other != NULL) blocks[each] = other;
    fill(blocks[each]);
    if (each % 3 == 0) free(blocks[each]);
  }
  for (int turn = 0; turn < 400; ++turn) {
    char* const block = malloc(70000 + 4096 * (size_t)turn);
    if (block != NULL) fill(block);
    if (turn % 2 == 0) free(block);
  }
  puts("done");
  return 0;
}

static int forbid_hiding(void) {
  enum { install_marks = 102, remove_marks = 103 }; /* advice to madvise, from Linux 6.13 on */
  struct sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 4, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, install_marks, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, remove_marks, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog filter = {.len = sizeof steps / sizeof steps[0], .filter = steps};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
}

static void come_and_go(void) {
  char* blocks[4];
  for (int each = 0; each < 4; ++each) fill(blocks[each] = malloc(200000));
  for (int each = 0; each < 4; ++each) free(blocks[each]);
}

static int quiet(void) {
  for (int turn = 0; turn < 1000; ++turn) come_and_go(); /* until as many are held as can be */
  setvbuf(stdout, NULL, _IONBF, 0); /* a buffer may be the first block of a span */
  if (forbid_hiding() != 0) return 1;
  for (int turn = 0; turn < 100; ++turn) come_and_go();
  puts("done");
  return 0;
}

/* Whether the system can read the page for the process. */
static void print_access(const volatile char* page) {
  char byte = 0;
  const struct iovec into = {.iov_base = &byte, .iov_len = 1};
  const struct iovec from = {.iov_base = (void*)page, .iov_len = 1};
  puts(process_vm_readv(getpid(), &into, 1, &from, 1, 0) == 1 ? "shown" : "hidden");
}

static int waiting(void) {
  char* const block = malloc(200000);
  const char* const behind = block + malloc_usable_size(block);
  fill(block);
  print_access(behind);
  free(block);
  print_access(behind);
  malloc_trim(0);
  malloc_trim(0); /* the first finds what was not used lately */
  print_access(behind);
  return 0;
}

int main(int count, char** words) {
  if (count == 2 && strcmp(words[1], "limited") == 0) return limited();
  if (count == 2 && strcmp(words[1], "quiet") == 0) return quiet();
  if (count == 2 && strcmp(words[1], "waiting") == 0) return waiting();
  if (count == 3 && strcmp(words[1], "steps") == 0) return steps(strtoul(words[2], NULL, 10));
  if (count == 3) return before(strtoul(words[2], NULL, 10));
  if (count == 4) return behind(strtoul(words[2], NULL, 10), words[3]);
  return legal();
}
