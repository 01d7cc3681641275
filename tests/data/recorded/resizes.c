// Resizes blocks by reallocarray.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  for (size_t round = 1; round < 100; ++round) {
    char* block = malloc(round);
    memset(block, 'a', round);
    block = reallocarray(block, round, 40);
    if (block == NULL || block[round - 1] != 'a') return 1;
    free(block);
  }
  puts("resized");
  return 0;
}
