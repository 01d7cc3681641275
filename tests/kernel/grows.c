/* Large blocks that stand in each other's way grow again and again, so that a block that was moved
 * is moved once more. Their content is checked at each step. argv[1]: "confined" limits the address
 * space to what is in use before. Prints "done". */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { blocks = 6, steps = 24 };
static const size_t mib = (size_t)1 << 20;

static size_t address_space(void) {
  unsigned long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%lu", &pages) != 1) exit(2);
  fclose(file);
  return pages * 4096;
}

static void expect(const uint32_t* block, size_t words, uint32_t seed) {
  for (size_t i = 0; i < words; i += 251) {
    if (block[i] != seed + (uint32_t)i) exit(3);
  }
}

static void fill(uint32_t* block, size_t from, size_t words, uint32_t seed) {
  for (size_t i = from; i < words; ++i) block[i] = seed + (uint32_t)i;
}

int main(int argc, char** argv) {
  uint32_t* all[blocks] = {0};
  size_t words[blocks] = {0};
  for (int step = 1; step <= steps; ++step) {
    for (uint32_t i = 0; i < blocks; ++i) {
      const size_t wanted = (size_t)step * mib / sizeof(uint32_t);
      errno = 0;
      uint32_t* const grown = realloc(all[i], wanted * sizeof(uint32_t));
      if (grown == NULL && errno == ENOMEM) continue;
      if (grown == NULL) return 4;
      expect(grown, words[i], i);
      fill(grown, words[i], wanted, i);
      all[i] = grown;
      words[i] = wanted;
    }
    if (step == steps / 2 && argc > 1 && strcmp(argv[1], "confined") == 0) {
      const struct rlimit limit = {.rlim_cur = address_space(), .rlim_max = RLIM_INFINITY};
      if (setrlimit(RLIMIT_AS, &limit) != 0) return 5;
    }
  }
  for (uint32_t i = 0; i < blocks; ++i) {
    expect(all[i], words[i], i);
    free(all[i]);
  }
  return puts("done") < 0;
}
