/* A signal handler forks (argv[1] "fork"), or calls _Fork ("_Fork"), while the only thread is
 * inside malloc: glibc promises the first for processes of one thread and the second always. The
 * child only leaves. argv[2]: how many signals. argv[3] "much": so much is free again and again
 * that a thread of the heap's own gives it back; some children use the heap then. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "program.h"

static volatile sig_atomic_t handled;
static volatile sig_atomic_t wrong;
static int with_handlers;
static int with_much;
static int wanted;

enum { blocks = 2000, block_bytes = 20000 };

static void free_much(void) {
  static void* held[blocks];
  int filled = 0;
  for (; filled < blocks && handled < wanted; ++filled) {
    held[filled] = malloc(block_bytes);
    REQUIRE(held[filled] != NULL);
    *(char*)held[filled] = 1;
  }
  while (filled > 0) free(held[--filled]);
}

/* What the child does once the handler has returned: a lock that nobody unlocks would stop it. */
static volatile sig_atomic_t in_child;

static void on_signal(int unused) {
  (void)unused;
  const pid_t pid = with_handlers ? fork() : _Fork();
  if (pid == 0 && with_much && with_handlers && handled % 10 == 0) {
    in_child = 1;
    alarm(60);
    return;
  }
  if (pid == 0) _exit(0);
  int status = 1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) wrong = 1;
  ++handled;
}

static void send_signals(pid_t to) {
  /* With much memory a fork takes longer: the program has to go on between two. */
  while (kill(to, SIGUSR1) == 0 && getppid() == to) usleep(with_much ? 2000 : 200);
  _exit(0);
}

static void* beside(void* stop) {
  while (!atomic_load((atomic_int*)stop)) churn(5, 500);
  return NULL;
}

int main(int argc, char** argv) {
  REQUIRE(argc >= 3);
  with_much = argc == 4;
  wanted = atoi(argv[2]);
  with_handlers = strcmp(argv[1], "fork") == 0;
  alarm(120);
  static atomic_int stop;
  pthread_t other;
  sigset_t usr1;
  sigemptyset(&usr1);
  sigaddset(&usr1, SIGUSR1);
  if (!with_handlers) {
    pthread_sigmask(SIG_BLOCK, &usr1, NULL);
    start_thread(&other, beside, &stop);
    pthread_sigmask(SIG_UNBLOCK, &usr1, NULL);
  }
  const struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  REQUIRE(sigaction(SIGUSR1, &action, NULL) == 0);
  const pid_t self = getpid();
  const pid_t sender = fork();
  REQUIRE(sender >= 0);
  if (sender == 0) send_signals(self);
  for (uint64_t i = 0; handled < wanted && !in_child; ++i) {
    if (with_much && i % 50 == 0) free_much();
    churn(i, 300);
  }
  if (in_child) {
    free_much();
    churn(1, 300);
    _exit(0);
  }
  REQUIRE(kill(sender, SIGKILL) == 0);
  REQUIRE(!wrong);
  atomic_store(&stop, 1);
  if (!with_handlers) pthread_join(other, NULL);
  puts("done");
  return 0;
}
