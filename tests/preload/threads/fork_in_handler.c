/* A signal handler forks (argv[1] "fork"), or calls _Fork ("_Fork"), while the only thread is inside
 * malloc: glibc promises the first for processes of one thread and the second always. The child only
 * leaves. argv[2]: how many signals. */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "program.h"

static volatile sig_atomic_t handled;
static volatile sig_atomic_t wrong;
static int with_handlers;

static void on_signal(int unused) {
  (void)unused;
  const pid_t pid = with_handlers ? fork() : _Fork();
  if (pid == 0) _exit(0);
  int status = 1;
  if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0) wrong = 1;
  ++handled;
}

static void send_signals(pid_t to) {
  while (kill(to, SIGUSR1) == 0 && getppid() == to) usleep(200);
  _exit(0);
}

static void* beside(void* stop) {
  while (!atomic_load((atomic_int*)stop)) churn(5, 500);
  return NULL;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 3);
  const int wanted = atoi(argv[2]);
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
  for (uint64_t i = 0; handled < wanted; ++i) churn(i, 300);
  REQUIRE(kill(sender, SIGKILL) == 0);
  REQUIRE(!wrong);
  atomic_store(&stop, 1);
  if (!with_handlers) pthread_join(other, NULL);
  puts("done");
  return 0;
}
