/* Finds blocks in guarded pages, which end where a page ends, and misuses them. */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { tries = 20000, bytes = 2048 };

int main(int count, char** words) {
  static char* blocks[tries];
  if (count != 2) return 2;
  char* sampled = NULL;
  uintptr_t first = 0;
  for (int i = 0; i < tries; ++i) { /* the heap's addresses are together; a sample lies elsewhere */
    blocks[i] = malloc(bytes);
    const uintptr_t here = (uintptr_t)blocks[i];
    if (first == 0) first = here;
    const uintptr_t distance = here > first ? here - first : first - here;
    if (distance > (uintptr_t)1 << 36) sampled = blocks[i];
    if (sampled != NULL) break;
  }
  if (sampled == NULL) return 3;
  char* volatile block = sampled;
  const size_t usable = malloc_usable_size(block);
  if (((uintptr_t)block + usable) % 4096 != 0) return 4; /* not a sample */
  memset(block, 7, usable);
  if (strcmp(words[1], "behind") == 0) {
    block[usable] = 'x';
  } else if (strcmp(words[1], "inside") == 0) {
    free(block + 16);
  } else if (strcmp(words[1], "realloc") == 0) {
    if (realloc(block + 16, bytes) != NULL) return 5;
  } else if (strcmp(words[1], "size") == 0) {
    if (malloc_usable_size(block + 16) != 0) return 5;
  } else {
    free(block);
    if (strcmp(words[1], "freed") == 0) block[8] = 'x';
    if (strcmp(words[1], "twice") == 0) free(block);
    return 0;
  }
  /* If the heap goes on, the block is as it was. */
  for (size_t at = 0; at < usable; ++at)
    if (block[at] != 7) return 6;
  block[0] = 8;
  free(block);
  return 0;
}
