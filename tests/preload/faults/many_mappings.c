/* The kernel gives no more mappings (vm.max_map_count): malloc works or says ENOMEM, free never
 * minds and keeps errno, and when the mappings are gone all is as before. argv[1]: which call uses
 * them up, "mprotect" or "mmap"; after the latter, the kernel refuses mappings that it could join
 * with others, too. Prints "done", how many blocks were given and how many refused. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>

#include "../threads/program.h"

enum { large = 300 };

static char* area;
static size_t page, pages;

static size_t split_mappings(void) {
  size_t split = 0;
  while (split < pages && mprotect(area + split * page, page, PROT_READ) == 0) split += 2;
  return split;
}

static size_t use_up_mappings(const char* call) {
  page = (size_t)sysconf(_SC_PAGESIZE);
  FILE* const file = fopen("/proc/sys/vm/max_map_count", "r");
  REQUIRE(file != NULL && fscanf(file, "%zu", &pages) == 1);
  fclose(file);
  pages = pages * 2 + 64;
  area = mmap(NULL, pages * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  REQUIRE(area != MAP_FAILED);
  const size_t used = split_mappings();
  if (strcmp(call, "mprotect") == 0) return used;
  /* One more than mprotect can make. */
  return mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
             ? pages
             : used;
}

static void free_keeping_errno(void* block) {
  errno = 4321;
  free(block);
  REQUIRE(errno == 4321);
}

int main(int argc, char** argv) {
  REQUIRE(argc == 2);
  static unsigned char* before[large];
  alarm(120);
  for (size_t i = 0; i < large; ++i) before[i] = signed_block(1000 + i * 5000);
  churn(1, 3000);
  if (use_up_mappings(argv[1]) >= pages) return 77;  /* no limit here */
  int refused = 0, successes = 0;
  for (size_t i = 0; i < 2000; ++i) {
    errno = 0;
    void* const block = malloc(i % 7 == 0 ? 200000 + i * 999 : i * 3);
    if (block == NULL) REQUIRE(errno == ENOMEM);
    block == NULL ? ++refused : ++successes;
    if (block != NULL) memset(block, 1, 1 + i % 3);
    if (i % 2 == 0) free_keeping_errno(block);
  }
  /* Of so much the heap asks the system beforehand, by a mapping. */
  void* const much = malloc((size_t)1100 << 20);
  much == NULL ? ++refused : ++successes;
  free_keeping_errno(much);
  for (size_t i = 0; i < large; i += 2) free_keeping_errno(before[i]);
  for (size_t i = 1; i < large; i += 2) {
    errno = 0;
    unsigned char* const new_block = realloc(before[i], 2000000 + i * 4096);
    if (new_block == NULL) REQUIRE(errno == ENOMEM);
    else before[i] = new_block;
  }
  REQUIRE(munmap(area, pages * page) == 0);
  for (size_t i = 1; i < large; i += 2) {
    REQUIRE(*(size_t*)(void*)before[i] == 1000 + i * 5000);
    free_keeping_errno(before[i]);
  }
  churn(2, 3000);
  free_keeping_errno(signed_block(50000000));
  printf("done, %d given and %d refused\n", successes, refused);
  return 0;
}
