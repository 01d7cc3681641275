// A handler that allocates interrupts a loop that allocates.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile long handled;

static void handle(int number) {
  (void)number;
  for (int i = 0; i < 3; ++i) {
    void *volatile block = malloc(333);
    free(block);
  }
  ++handled;
}

int main(void) {
  signal(SIGALRM, handle);
  const struct itimerval often = {{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, NULL);
  long made = 0;
  for (; handled < 4000 && made < 50000000; ++made) {
    void *volatile block = malloc(111);
    free(block);
  }
  signal(SIGALRM, SIG_IGN);
  printf("%ld %ld\n", made, 3 * handled);
  return 0;
}
