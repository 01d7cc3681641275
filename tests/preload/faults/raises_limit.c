/* A program that was started under a limit of its address space and raises it. Prints the MiB that it
 * could take before and after. argv[1]: MiB to take, if possible. */
#include <sys/resource.h>

#include "../threads/program.h"

enum { most = 4096 };
static const size_t mib = (size_t)1 << 20;

static size_t take(size_t wanted) {
  static unsigned char* all[most];
  size_t count = 0;
  while (count < wanted && count < most && (all[count] = malloc(mib)) != NULL) {
    memset(all[count], (int)count, 64);
    ++count;
  }
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(all[i][63] == (unsigned char)i);
    free(all[i]);
  }
  return count;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  const size_t wanted = strtoul(argv[1], NULL, 10);
  const size_t before = take(wanted);
  struct rlimit now;
  REQUIRE(getrlimit(RLIMIT_AS, &now) == 0);
  now.rlim_cur = now.rlim_max;
  REQUIRE(setrlimit(RLIMIT_AS, &now) == 0);
  char line[64];
  const int length = snprintf(line, sizeof line, "%zu %zu\n", before, take(wanted));
  return write(1, line, (size_t)length) == length ? 0 : 1;
}
