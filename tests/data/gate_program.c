/* Computes, then allocates. SLOW: percent more work. EXTRA: allocations more. */
#include <stdio.h>
#include <stdlib.h>

#ifndef SLOW
#define SLOW 0
#endif
#ifndef EXTRA
#define EXTRA 0
#endif

int main(int count, char** words) {
  const long work = count > 1 ? atol(words[1]) : 1000;
  const long blocks = count > 2 ? atol(words[2]) : 10;
  volatile unsigned long sum = 0;
  for (long step = 0; step < work * (100 + SLOW); ++step) {
    sum += (unsigned long)step;
  }
  for (long block = 0; block < blocks + EXTRA; ++block) {
    void* volatile memory = malloc(64);
    free(memory);
  }
  puts("done");
  return 0;
}
