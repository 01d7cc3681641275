/* Finds every window in which a fork would give the child a locked lock: the processor's trap flag
 * stops one thread after each instruction, and after each one that was atomic (LOCK, or XCHG with
 * memory) a helper forks; the child allocates. The helper has a real-time priority and shares the
 * thread's only processor, so that it runs at once and until it has to wait.
 * argv[1]: seconds that a child may take. x86-64 only. Exit 77: not permitted here. Prints how many forks at how many places there were. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <malloc.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>

#include "program.h"

enum { places = 4096, forks_of_a_place = 12, trap_flag = 0x100 };

static struct {
  uintptr_t address;
  int forks;
} seen[places];

static sem_t wanted;
static atomic_int all_forks, all_places, stop;
static uintptr_t last, current_place;
static unsigned char* from_elsewhere[200];

static int is_atomic(const unsigned char* code) {
  int locked = 0;
  for (;; ++code) {
    if (*code == 0xF0) locked = 1;
    else if (*code != 0x66 && *code != 0x67 && *code != 0xF2 && *code != 0xF3 && *code != 0x2E &&
             *code != 0x3E && *code != 0x64 && *code != 0x65)
      break;
  }
  if (locked) return 1;
  if ((*code & 0xF0) == 0x40) ++code;
  return (*code == 0x86 || *code == 0x87) && (code[1] & 0xC0) != 0xC0;
}

/* Returns: whether this place has still forks to come. */
static int count_place(uintptr_t address) {
  for (unsigned i = address * 0x9E3779B1u % places;; i = (i + 1) % places) {
    if (seen[i].address == 0) {
      seen[i].address = address;
      REQUIRE(atomic_fetch_add(&all_places, 1) < places / 2);
    }
    if (seen[i].address == address) return seen[i].forks++ < forks_of_a_place;
  }
}

static void on_trap(int number, siginfo_t* info, void* context) {
  (void)number, (void)info;
  const greg_t next = ((ucontext_t*)context)->uc_mcontext.gregs[REG_RIP];
  const uintptr_t before = last;
  last = (uintptr_t)next;
  if (before == 0 || !is_atomic((const unsigned char*)before) || !count_place(before)) return;
  current_place = before;
  atomic_fetch_add(&all_forks, 1);
  sem_post(&wanted);
  sched_yield();
}

static unsigned patience_s;

static void child(void) {
  alarm(patience_s);
  static const size_t sizes[] = {16, 200, 3000, 40000, 300000, 5000000};
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 6; ++i) {
      void* const block = malloc(sizes[i]);
      REQUIRE(block != NULL);
      void* const new_block = realloc(block, sizes[i] * 2);
      REQUIRE(new_block != NULL);
      free(new_block);
    }
  }
  _exit(0);
}

static void* helper(void* unused) {
  for (;;) {
    while (sem_wait(&wanted) != 0) {}
    if (atomic_load(&stop)) return unused;
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) child();
    int status;
    REQUIRE(waitpid(pid, &status, 0) == pid);
    if (status != 0) {
      char line[128];
      Dl_info where = {0};
      dladdr((void*)current_place, &where);
      const int length = snprintf(line, sizeof line, "child ended with status %x after %s+%#lx\n",
                                  status, where.dli_fname ? where.dli_fname : "?",
                                  current_place - (uintptr_t)where.dli_fbase);
      REQUIRE(write(2, line, (size_t)length) == length);
      _exit(1);
    }
  }
}

/* Everything that takes a lock: filling and emptying caches, large blocks, other threads' blocks. */
static void visit_the_heap(void) {
  static unsigned char* blocks[400];
  static const size_t sizes[] = {24, 700, 9000};
  for (int s = 0; s < 3; ++s) {
    const int count = sizes[s] > 5000 ? 40 : 400;
    for (int i = 0; i < count; ++i) blocks[i] = malloc(sizes[s]);
    for (int i = 0; i < count; ++i) free(blocks[i]);
  }
  for (int i = 0; i < 200; ++i) free_signed(from_elsewhere[i]);
  void* large = malloc(200000);
  large = realloc(large, 1500000);
  large = realloc(large, 150000);
  free(large);
  free(memalign(65536, 100));
  free(malloc((size_t)64 << 20));
  free(calloc(300, 1000));
  malloc_trim(0);
}

/* Steps are taken until the thread's destructors have run: giving up its cache is part of it. Keys'
 * destructors run in the order of the keys, in several rounds, and this one is the last of the last
 * round; then the C library blocks all signals, under which a trap is deadly. */
static pthread_key_t last_key;

static void stop_stepping(void* rounds) {
  if ((uintptr_t)rounds < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(last_key, (void*)((uintptr_t)rounds + 1));
    return;
  }
  __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                   ::"i"(~trap_flag) : "memory", "cc");
}

static void* stepped(void* unused) {
  REQUIRE(pthread_setspecific(last_key, (void*)1) == 0);
  __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq %0, (%%rsp); popfq; lea 128(%%rsp), %%rsp"
                   ::"i"(trap_flag) : "memory", "cc");
  visit_the_heap();
  return unused;
}

static void* make_blocks(void* unused) {
  for (int i = 0; i < 200; ++i) from_elsewhere[i] = signed_block((size_t)(i % 5) * 40);
  return unused;
}

static int share_one_processor(void) {
  cpu_set_t all, one;
  REQUIRE(sched_getaffinity(0, sizeof all, &all) == 0);
  CPU_ZERO(&one);
  int last_cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(last_cpu, &all)) --last_cpu;
  CPU_SET(last_cpu, &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  patience_s = (unsigned)atoi(argv[1]);
  if (!share_one_processor()) return 77;
  alarm(240);
  REQUIRE(sem_init(&wanted, 0, 0) == 0);
  const struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
  REQUIRE(sigaction(SIGTRAP, &action, NULL) == 0);

  pthread_t forking, stepping, making;
  for (int turn = 0; turn < 2; ++turn) {
    start_thread(&making, make_blocks, NULL);
    pthread_join(making, NULL);
    if (turn == 0) visit_the_heap();  /* once without steps: it may start a thread, signals blocked */
  }
  REQUIRE(pthread_key_create(&last_key, stop_stepping) == 0);
  start_thread(&forking, helper, NULL);
  const struct sched_param first = {.sched_priority = 1};
  if (pthread_setschedparam(forking, SCHED_FIFO, &first) != 0) return 77;
  start_thread(&stepping, stepped, NULL);
  pthread_join(stepping, NULL);
  atomic_store(&stop, 1);
  sem_post(&wanted);
  pthread_join(forking, NULL);
  printf("%d forks at %d places\n", atomic_load(&all_forks), atomic_load(&all_places));
  return 0;
}
