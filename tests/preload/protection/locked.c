// A program that locks parts of its blocks in memory, and frees them as they are. Between pages
// that are locked and others a mapping ends.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int malloc_trim(size_t);

int main(void) {
  enum { rounds = 600 };
  for (int round = 0; round < rounds; ++round) {
    const size_t size = 20000 + (size_t)(round % 400) * 1000;
    char* block = malloc(size);
    if (mlock(block, size) != 0) {
      perror("mlock");
      return 1;
    }
    memset(block, 0xee, size);
    free(block);
    if (round % 20 == 0) malloc_trim(0);
    char* zeros = calloc(1, size);
    for (size_t at = 0; at < size; ++at) {
      if (zeros[at] != 0) return 2;
    }
    free(zeros);
  }
  puts("locked");
  return 0;
}
