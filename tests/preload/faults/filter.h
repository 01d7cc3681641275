/* Filters of system calls, made line by line. */
#pragma once

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "../threads/program.h"

struct filter {
  struct sock_filter lines[2048];
  unsigned short count;
};

static inline void add(struct filter* to, struct sock_filter line) {
  REQUIRE(to->count < 2048);
  to->lines[to->count++] = line;
}

static inline void load(struct filter* to, size_t offset) {
  add(to, (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset));
}

static inline void answer(struct filter* to, uint32_t what) {
  add(to, (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, what));
}

/* This system call has this answer. */
static inline void answer_to(struct filter* to, long call, uint32_t what) {
  load(to, offsetof(struct seccomp_data, nr));
  add(to, (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 1));
  answer(to, what);
}

static inline void install(struct filter* from) {
  const struct sock_fprog program = {.len = from->count, .filter = from->lines};
  REQUIRE(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  REQUIRE(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}
