/* Moves pages of two mappings with one mremap, and prints what became of the place that they were
 * to go to: "moved", "kept" if the call failed and the place is still mapped, "lost" if it failed
 * and the place is gone. */
#define _GNU_SOURCE
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE);
  const int writable = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS;
  char* const all = mmap(NULL, 16 * page, writable, kind, -1, 0);
  if (all == MAP_FAILED || mprotect(all + page, page, PROT_READ) != 0) return 2;
  char* const target = all + 8 * page;
  if (mremap(all, 2 * page, 2 * page, MREMAP_MAYMOVE | MREMAP_FIXED, target) != MAP_FAILED) {
    return puts("moved") < 0;
  }
  return puts(msync(target, 2 * page, MS_ASYNC) == 0 ? "kept" : "lost") < 0;
}
