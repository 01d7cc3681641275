/* A real-time program: it touches its memory first, asks that all of it stays, and waits. Prints
   how many pages were missing later. usage: keeps_memory ASK, where ASK is 0 or 1 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { blocks = 4000, bytes = 10000 };

static void touch(void) {
  static void* all[blocks];
  for (int i = 0; i < blocks; ++i) memset(all[i] = malloc(bytes), 1, bytes);
  for (int i = 0; i < blocks; ++i) free(all[i]);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (argv[1][0] == '1' && mallopt(M_TRIM_THRESHOLD, -1) != 1) return 3;
  touch();
  nanosleep(&(struct timespec){.tv_nsec = 600000000}, NULL);
  struct rusage before, after;
  getrusage(RUSAGE_SELF, &before);
  touch();
  getrusage(RUSAGE_SELF, &after);
  printf("%ld\n", after.ru_minflt - before.ru_minflt);
  return 0;
}
