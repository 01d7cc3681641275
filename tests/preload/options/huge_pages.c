/* Says what the heap has asked of the system for its mappings, as the system sees them: "hg" for huge
 * pages, "nh" for small ones, "--" for nothing. The mappings are those that hold a small block, a
 * large one, each place that a growing block has left, and memory that is new at the end. In between,
 * the heap gives pages back in the way that the argument says.
 *
 *   huge_pages none      nothing goes back
 *   huge_pages spans     pages of free small blocks
 *   huge_pages blocks    pages of free large blocks
 *   huge_pages cleared   those of a block that is used again as zeros
 *   huge_pages shorter   those behind a block that became smaller */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { small_blocks = 200000, moves = 4, mib = 1 << 20 };

/* Returns: what was asked for at the address, "??" if the system does not say. */
static const char* asked(const void* address) {
  static char line[4096];
  FILE* const maps = fopen("/proc/self/smaps", "r");
  int is_around = 0;
  const char* flag = "??";
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
      is_around = begin <= (uintptr_t)address && (uintptr_t)address < end;
    } else if (is_around && strncmp(line, "VmFlags:", 8) == 0) {
      flag = strstr(line, " hg") != NULL ? "hg" : strstr(line, " nh") != NULL ? "nh" : "--";
    }
  }
  if (maps != NULL) fclose(maps);
  return flag;
}

static char* small[small_blocks];

static void give_back(const char* way) {
  char* large = memset(malloc(40 * mib), 1, 40 * mib);
  if (strcmp(way, "spans") == 0) {
    for (int i = 0; i < small_blocks / 2; ++i) free(small[i]);
    free(malloc(64)); /* the pages of blocks go back, not their slices */
    malloc_trim(0);
  } else if (strcmp(way, "blocks") == 0) {
    free(large);
    large = NULL;
    malloc_trim(0);
  } else if (strcmp(way, "cleared") == 0) {
    free(large);
    large = calloc(1, 40 * mib - 1);
  } else if (strcmp(way, "shorter") == 0) {
    large = realloc(large, 39 * mib);
    large = realloc(large, 30 * mib + 1);
  }
  free(large);
}

int main(int count, char** words) {
  void* walls[moves];
  char* left[moves];
  if (count != 2) return 2;
  char* growing = malloc(mib);
  for (int i = 0; i < small_blocks; ++i) small[i] = memset(malloc(64), 1, 64);
  memset(growing, 2, mib);
  for (int i = 0; i < moves; ++i) {
    walls[i] = malloc(mib);
    left[i] = growing;
    growing = realloc(growing, (size_t)(2 << i) * mib);
    memset(growing, 2, (size_t)(2 << i) * mib);
  }
  give_back(words[1]);
  char* const last = malloc(200 * mib); /* new memory */
  printf("small %s %s\n", asked(small[0]), asked(small[small_blocks - 1]));
  for (int i = 0; i < moves; ++i) printf("left %s\n", asked(left[i]));
  printf("grown %s\n", asked(growing));
  printf("new %s %s\n", asked(last), asked(last + 200 * mib - 1));
  for (int i = 0; i < moves; ++i) free(walls[i]);
  free(growing);
  free(last);
  return 0;
}
