// A coroutine that is switched to by hand, as libco and its like do it. Where its first function
// would return to stands another function, and nothing is mapped behind the stack. With the argument
// "filter", the program is under a filter of system calls by then; with "thread", a thread of its
// own does all this.
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#if defined(__x86_64__)
void* switch_stack(void** kept, void* next);
__asm__(
    ".text\n.globl switch_stack\n.type switch_stack,@function\nswitch_stack:\n"
    "  push %rbp\n  push %rbx\n  push %r12\n  push %r13\n  push %r14\n  push %r15\n"
    "  mov %rsp, (%rdi)\n  mov %rsi, %rsp\n"
    "  pop %r15\n  pop %r14\n  pop %r13\n  pop %r12\n  pop %rbx\n  pop %rbp\n  ret\n"
    ".size switch_stack, .-switch_stack\n");

static void *caller, *coroutine;

static void never(void) { abort(); }

__attribute__((noinline)) static void allocate(int depth) {
  if (depth > 0) {
    allocate(depth - 1);
    __asm__ volatile("");
    return;
  }
  for (size_t each = 0; each < 600; ++each) free(malloc(1000 + each));
}

static void body(void) {
  for (;;) {
    allocate(3);
    switch_stack(&coroutine, caller);
  }
}

/// Allows all calls, which nobody but the program knows.
static void filter(void) {
  struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {.len = 1, .filter = &allow};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) exit(2);
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) exit(2);
}

static void* switch_to_coroutine(void* nothing) {
  enum { page = 4096, stack_bytes = 16 * page, saved = 6 };
  char* memory =
      mmap(NULL, stack_bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || munmap(memory + stack_bytes, page) != 0) exit(2);
  void** top = (void**)(memory + stack_bytes);
  *--top = (void*)never;
  *--top = (void*)body;
  for (int each = 0; each < saved; ++each) *--top = NULL;
  coroutine = top;
  for (int each = 0; each < 5; ++each) switch_stack(&caller, coroutine);
  return nothing;
}

int main(int count, char** arguments) {
  int in_thread = 0;
  for (int each = 1; each < count; ++each) {
    if (strcmp(arguments[each], "filter") == 0) filter();
    in_thread |= strcmp(arguments[each], "thread") == 0;
  }
  pthread_t thread;
  if (!in_thread) switch_to_coroutine(NULL);
  else if (pthread_create(&thread, NULL, switch_to_coroutine, NULL) != 0) return 2;
  else pthread_join(thread, NULL);
  puts("allocated");
  return 0;
}
#else
int main(void) {
  free(malloc(1000));
  puts("allocated");
  return 0;
}
#endif
