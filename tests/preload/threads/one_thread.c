/* One thread that replaces random blocks of a few MiB, on a machine with many processors where the
 * thread moves again and again. Says how much memory the heap used at most, in KiB. */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { blocks = 20000, rounds = 400000, processors = 64 };

static unsigned long state = 88172645463325252ul;
static unsigned next(unsigned below) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (unsigned)(state >> 33) % below;
}

/* In place of the C library's. */
int sched_getcpu(void) {
  static int calls = 0;
  return (calls++ / 50) * 5 % processors;
}

int main(void) {
  static char* all[blocks];
  size_t most = 0;
  for (int i = 0; i < rounds; ++i) {
    const unsigned number = next(blocks);
    free(all[number]);
    all[number] = malloc(16 + next(next(2) == 0 ? 200 : 2000));
    if (i % 1000 != 0) continue;
    const struct mallinfo2 now = mallinfo2();
    if (now.arena + now.hblkhd > most) most = now.arena + now.hblkhd;
  }
  printf("%zu\n", most >> 10);
  return 0;
}
