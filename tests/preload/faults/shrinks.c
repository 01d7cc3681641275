/* Makes blocks smaller when there is no memory left. Prints "block" or "NULL", and errno, for each. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { limit_bytes = 96 << 20 };

static void shrink(void* block, size_t bytes) {
  errno = 0;
  printf("%s %d\n", realloc(block, bytes) != NULL ? "block" : "NULL", errno);
}

int main(void) {
  static const size_t sizes[] = {1 << 20, 65536, 33000, 8000, 1000, 200, 112, 100, 90};
  const struct rlimit limit = {limit_bytes, limit_bytes};
  setvbuf(stdout, NULL, _IONBF, 0);
  if (setrlimit(RLIMIT_AS, &limit) != 0) return 2;
  void* const large = malloc(100000);
  void* const small = malloc(4000);
  if (large == NULL || small == NULL) return 3;
  for (size_t each = 0; each < sizeof sizes / sizeof *sizes; ++each) {
    while (malloc(sizes[each]) != NULL) continue;
  }
  shrink(large, 100);
  shrink(small, 300);
  return 0;
}
