/* Frees 100 MiB in blocks of 256 bytes and waits. Says how many MiB of them are resident then. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { count = 400000, bytes = 256 };

static char *blocks[count];

static long resident_mib(void) {
  long all = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld %ld", &all, &resident) != 2) return -1;
  fclose(file);
  return resident / 256;
}

int main(void) {
  for (int i = 0; i < count; ++i) {
    blocks[i] = malloc(bytes);
    if (blocks[i] == NULL) return 1;
    memset(blocks[i], 1, bytes);
  }
  const long before = resident_mib();
  for (int i = 0; i < count; ++i) free(blocks[i]);
  long after = before;
  for (int looks = 0; looks < 30 && after > before / 2; ++looks) {
    const struct timespec pause = {.tv_nsec = 100000000};
    nanosleep(&pause, NULL);
    after = resident_mib();
  }
  printf("%ld of %ld\n", after, before);
  return 0;
}
