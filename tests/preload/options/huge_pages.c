/* Says which of the heap's mappings are for huge pages, as the system sees them: those that hold a
 * small block, a large one, and each place that a growing block has left. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { small_blocks = 200000, moves = 4, mib = 1 << 20 };

/* Returns: 1 if huge pages were asked for at the address, 0 if not, -1 if the system does not say. */
static int wants_huge_pages(const void* address) {
  static char line[4096];
  FILE* const maps = fopen("/proc/self/smaps", "r");
  int is_around = 0;
  int wants = -1;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      is_around = begin <= (uintptr_t)address && (uintptr_t)address < end;
    } else if (is_around && strncmp(line, "VmFlags:", 8) == 0) {
      wants = strstr(line, " hg") != NULL;
    }
  }
  if (maps != NULL) fclose(maps);
  return wants;
}

int main(void) {
  static char* small[small_blocks];
  void* walls[moves];
  char* left[moves];
  char* growing = malloc(mib);
  for (int i = 0; i < small_blocks; ++i) small[i] = memset(malloc(64), 1, 64);
  memset(growing, 2, mib);
  for (int i = 0; i < moves; ++i) {
    walls[i] = malloc(mib);
    left[i] = growing;
    growing = realloc(growing, (size_t)(2 << i) * mib);
    memset(growing, 2, (size_t)(2 << i) * mib);
  }
  printf("small %d %d\n", wants_huge_pages(small[0]), wants_huge_pages(small[small_blocks - 1]));
  for (int i = 0; i < moves; ++i) printf("left %d\n", wants_huge_pages(left[i]));
  void* const last = growing;
  free(growing);
  printf("freed %d\n", wants_huge_pages(last));
  for (int i = 0; i < moves; ++i) free(walls[i]);
  return 0;
}
