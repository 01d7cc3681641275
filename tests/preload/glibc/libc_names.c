/* glibc's own names of its functions: what they return is freed by free, and the other way round.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);
extern void* __libc_valloc(size_t);
extern void* __libc_pvalloc(size_t);
extern void __libc_free(void*);

int main(void) {
  for (size_t size = 1; size < 1000000; size = size * 3 + 1) {
    void* blocks[] = {__libc_malloc(size), __libc_calloc(1, size), __libc_memalign(64, size),
                      __libc_valloc(size), __libc_pvalloc(size),   __libc_realloc(NULL, size)};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i) {
      if (blocks[i] == NULL) return 1;
      memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; ++i) free(realloc(blocks[i], 2 * size));
    __libc_free(__libc_realloc(malloc(size), 2 * size));
  }
  puts("done");
  return 0;
}
