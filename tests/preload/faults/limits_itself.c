/* A program that limits its address space after it has started, as judges and workers do: what it
 * may still use it can use, for the heap and for everything else; then malloc says ENOMEM; what is
 * freed can be used again. argv[1]: MiB that it allows itself beyond what it has. Prints the MiB
 * taken the first time and the second. */
#include <dlfcn.h>
#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "../threads/program.h"

enum { growing = 4, most = 4096 };
static const size_t mib = (size_t)1 << 20;

static size_t address_space(void) {
  char text[128] = {0};
  const int file = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0 && read(file, text, sizeof text - 1) > 0);
  close(file);
  return strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE);
}

static void limit(rlim_t bytes) {
  struct rlimit now;
  REQUIRE(getrlimit(RLIMIT_AS, &now) == 0);
  now.rlim_cur = bytes;
  REQUIRE(setrlimit(RLIMIT_AS, &now) == 0);
}

static void* work(void* seed) {
  for (uint64_t i = 0; i < 4; ++i) churn((uintptr_t)seed + i, 4000);
  return NULL;
}

static void use_threads(void) {
  pthread_t some[4];
  for (uintptr_t i = 0; i < 4; ++i) start_thread(&some[i], work, (void*)i);
  for (int i = 0; i < 4; ++i) REQUIRE(pthread_join(some[i], NULL) == 0);
}

static void expect_filled(const unsigned char* block, size_t size, unsigned char value) {
  for (size_t i = 0; i < size; i += 1021) REQUIRE(block[i] == value);
}

/* Blocks that stand in each other's way while they grow. Returns how often one could not. */
static int grow(size_t from, size_t to, size_t step) {
  unsigned char* blocks[growing];
  size_t sizes[growing];
  int refused = 0;
  for (int i = 0; i < growing; ++i) {
    blocks[i] = malloc(sizes[i] = from);
    REQUIRE(blocks[i] != NULL);
    memset(blocks[i], i + 1, from);
  }
  for (size_t size = from + step; size <= to; size += step) {
    for (int i = 0; i < growing; ++i) {
      errno = 0;
      unsigned char* const new_block = realloc(blocks[i], size);
      if (new_block == NULL) {
        REQUIRE(errno == ENOMEM);
        ++refused;
        continue;
      }
      blocks[i] = new_block;
      expect_filled(new_block, sizes[i], (unsigned char)(i + 1));
      memset(new_block, i + 1, sizes[i] = size);
    }
  }
  for (int i = 0; i < growing; ++i) {
    expect_filled(blocks[i], sizes[i], (unsigned char)(i + 1));
    free(blocks[i]);
  }
  return refused;
}

static size_t take_all(size_t size) {
  static unsigned char* all[most];
  size_t count = 0;
  errno = 0;
  while (count < most && (all[count] = malloc(size)) != NULL) {
    memset(all[count], (int)count, 64);
    ++count;
  }
  REQUIRE(count == most || errno == ENOMEM);
  for (size_t i = 0; i < count; ++i) {
    REQUIRE(all[i][63] == (unsigned char)i);
    free(all[i]);
  }
  return count * size / mib;
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  alarm(120);
  use_threads();
  const size_t allowed = strtoul(argv[1], NULL, 10) * mib;
  limit(address_space() + allowed);

  use_threads();
  void* const pages = mmap(NULL, 16 * mib, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  REQUIRE(pages != MAP_FAILED && munmap(pages, 16 * mib) == 0);
  REQUIRE(dlopen("libm.so.6", RTLD_NOW) != NULL);
  REQUIRE(grow(mib, 12 * mib, 3 * mib / 4) == 0);

  const size_t first = take_all(mib);
  const size_t second = take_all(mib);
  REQUIRE(take_all(70000) > 0);

  /* Below what it has: nothing new, but what is free may be used, and nothing is lost. */
  limit(mib);
  churn(5, 2000);
  for (int i = 0; i < 5; ++i) grow(mib, 10 * mib, mib);
  free(malloc(40 * mib));

  limit(RLIM_INFINITY);
  use_threads();
  REQUIRE(grow(mib, 12 * mib, mib) == 0);
  printf("%zu %zu\n", first, second);
  return 0;
}
