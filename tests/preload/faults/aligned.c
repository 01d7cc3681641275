/* Asks for every alignment from 16 bytes to 1 MiB, with small sizes and large ones, and checks the
 * addresses. Prints "done" and the number of blocks. A request may fail with ENOMEM. */
#include <errno.h>

#include "../threads/program.h"

enum { per_alignment = 12 };

static unsigned char* aligned_block(size_t alignment, size_t size) {
  void* block = NULL;
  const int error = posix_memalign(&block, alignment, size);
  REQUIRE(error == 0 || error == ENOMEM);
  if (error != 0) return NULL;
  REQUIRE((uintptr_t)block % alignment == 0);
  memset(block, 1, size);
  return block;
}

int main(void) {
  alarm(60);
  int count = 0;
  for (size_t alignment = 16; alignment <= (size_t)1 << 20; alignment *= 2) {
    unsigned char* kept[per_alignment];
    for (size_t i = 0; i < per_alignment; ++i) {
      kept[i] = aligned_block(alignment, i % 2 == 0 ? 1 + i * alignment / 4 : 1 + i * 5000);
      count += kept[i] != NULL;
    }
    for (size_t i = 0; i < per_alignment; ++i) free(kept[i]);
  }
  printf("done %d\n", count);
  return 0;
}
