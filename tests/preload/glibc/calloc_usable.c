/* calloc clears all bytes that malloc_usable_size tells of, also of a block that was used before.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bytes_left(size_t size) {
  void* dirty[8];
  for (int i = 0; i < 8; ++i) {
    dirty[i] = malloc(size);
    memset(dirty[i], 0xaa, malloc_usable_size(dirty[i]));
  }
  for (int i = 0; i < 8; ++i) free(dirty[i]);
  unsigned char* const block = calloc(1, size);
  const size_t usable = malloc_usable_size(block);
  int left = 0;
  for (size_t at = 0; at < usable; ++at) left += block[at] != 0;
  free(block);
  return left;
}

int main(void) {
  int wrong = 0;
  for (size_t size = 1; size < 3000000; size += size / 37 + 1) wrong += bytes_left(size) != 0;
  printf("%d sizes with old bytes\n", wrong);
  return wrong != 0;
}
