/* Frees 40 MiB, and ends when the heap has given most of it back without being called, or after as
 * many seconds as argv[1] says. Prints "given back" or "kept". */
#include <time.h>

#include "../threads/program.h"

enum { count = 400, bytes = 100000 };

static void free_much(void) {
  static char* all[count];
  for (int i = 0; i < count; ++i) memset(all[i] = malloc(bytes), 1, bytes);
  for (int i = 0; i < count; ++i) free(all[i]);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  const time_t end = time(NULL) + atoi(argv[1]);
  free_much();
  int kept = 1;
  while (kept && time(NULL) < end) {
    const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
    nanosleep(&moment, NULL);
    kept = resident_kib() > (12 << 10);
  }
  puts(kept ? "kept" : "given back");
  return 0;
}
