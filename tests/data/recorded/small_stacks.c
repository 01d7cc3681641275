// Allocates on a stack with little room, of one kind: the alternate stack of signals, a thread with
// the least size, a coroutine.
#define _GNU_SOURCE
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

enum { page = 4096, alternate_bytes = 8192, rounds = 400 };

static void allocate(void) {
  for (size_t round = 0; round < rounds; ++round) {
    void* block = malloc(10 + round * 33);
    block = realloc(block, 100 + round * 500);
    free(block);
  }
}

/// A stack whose lower neighbour cannot be touched.
static char* stack_of(size_t bytes) {
  char* memory =
      mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED || mprotect(memory, page, PROT_NONE) != 0) exit(2);
  return memory + page;
}

static void handle(int signal) {
  (void)signal;
  allocate();
}

static void on_alternate_stack(void) {
  const stack_t stack = {.ss_sp = stack_of(alternate_bytes), .ss_size = alternate_bytes};
  const struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK};
  sigaltstack(&stack, NULL);
  sigaction(SIGUSR1, &action, NULL);
  raise(SIGUSR1);
}

static void* run(void* nothing) {
  allocate();
  return nothing;
}

static void in_threads(void) {
  pthread_attr_t smallest;
  pthread_attr_init(&smallest);
  pthread_attr_setstacksize(&smallest, PTHREAD_STACK_MIN);
  for (int each = 0; each < 10; ++each) {
    pthread_t thread;
    if (pthread_create(&thread, &smallest, run, NULL) != 0) exit(2);
    pthread_join(thread, NULL);
  }
}

static void in_a_coroutine(void) {
  static ucontext_t caller, coroutine;
  getcontext(&coroutine);
  coroutine.uc_stack.ss_sp = stack_of(page);
  coroutine.uc_stack.ss_size = page;
  coroutine.uc_link = &caller;
  makecontext(&coroutine, allocate, 0);
  swapcontext(&caller, &coroutine);
}

int main(int count, char** words) {
  if (count != 2) return 2;
  if (strcmp(words[1], "alternate") == 0) on_alternate_stack();
  if (strcmp(words[1], "thread") == 0) in_threads();
  if (strcmp(words[1], "coroutine") == 0) in_a_coroutine();
  puts("allocated");
  return 0;
}
