/* deny ERRNO CALL... -- PROGRAM ARGUMENTS: starts the program with system calls that fail.
 * CALL: a number, or mmap+BYTES (mappings of more than so many), or writable+BYTES (those of them
 * that may be written, as a system without overcommit refuses them), or marks (pages are not marked
 * as hidden, as before Linux 6.13). */
#include <errno.h>
#include <sys/mman.h>

#include "filter.h"

/* mmap's length is its second argument, of 64 bits: high word first, then low. */
static void refuse_mappings(struct filter* to, uint64_t most, int only_writable, uint32_t what) {
  const struct sock_filter lines[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 0, 8),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, only_writable ? PROT_WRITE : ~0u, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JA, only_writable ? 5 : 0, 0, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1]) + 4),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)(most >> 32), 2, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[1])),
      BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, (uint32_t)most, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, what),
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) add(to, lines[i]);
}

static void refuse_marks(struct filter* to, uint32_t what) {
  enum { install_marks = 102, remove_marks = 103 };
  const struct sock_filter lines[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 4),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[2])),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, install_marks, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, remove_marks, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, what),
  };
  for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) add(to, lines[i]);
}

int main(int argc, char** argv) {
  static struct filter filter;
  REQUIRE(argc > 3);
  const uint32_t what = SECCOMP_RET_ERRNO | (uint32_t)atoi(argv[1]);
  int i = 2;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i) {
    const char* const bytes = strchr(argv[i], '+');
    if (strcmp(argv[i], "marks") == 0) refuse_marks(&filter, what);
    else if (bytes == NULL) answer_to(&filter, atol(argv[i]), what);
    else refuse_mappings(&filter, strtoull(bytes + 1, NULL, 10), *argv[i] == 'w', what);
  }
  REQUIRE(i + 1 < argc);
  answer(&filter, SECCOMP_RET_ALLOW);
  install(&filter);
  execv(argv[i + 1], argv + i + 1);
  return 126;
}
