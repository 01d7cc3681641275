/* Tags of memory in the profile hardened, on a processor that has them: a child of this process does
 * what argv[1] says, and must end by a report of the kind argv[2], or without one ("none"). */
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

enum { neighbours = 64, sizes = 6 };
static const size_t all_sizes[sizes] = {8, 24, 100, 1000, 4000, 30000};

static uintptr_t place(const volatile void* block) { return (uintptr_t)block << 8 >> 8; }

static int by_place(const void* one, const void* other) {
  const uintptr_t a = place(*(char* const*)one), b = place(*(char* const*)other);
  return (a > b) - (a < b);
}

/* Blocks in the order of their addresses. */
static void take(char** blocks, size_t size) {
  for (int each = 0; each < neighbours; ++each) blocks[each] = malloc(size);
  qsort(blocks, neighbours, sizeof *blocks, by_place);
}

/* As an overrun that jumps the canary. */
static void reach_neighbour(size_t size, int step) {
  enum { canary = 8 };
  char* blocks[neighbours];
  take(blocks, size);
  for (int each = 1; each + 1 < neighbours; ++each) {
    const ptrdiff_t far = (ptrdiff_t)(place(blocks[each + step]) - place(blocks[each]));
    if ((size_t)labs(far) != malloc_usable_size(blocks[each]) + canary) continue;
    *(volatile char*)(blocks[each] + far) = 1;
    return;
  }
}

static void touch_freed(size_t size, int writes) {
  volatile char* const block = malloc(size);
  free((void*)block);
  if (writes) block[0] = 1;
  if (block[size - 1] == 1) puts("1");
}

/* The block has a new owner. Its tag differs from that of the stale address in six of seven cases. */
static void touch_new_owner(size_t size) {
  for (int turn = 0; turn < 30; ++turn) {
    volatile char* const stale = malloc(size);
    free((void*)stale);
    for (int each = 0; each < 100000; ++each) {
      void* const other = malloc(size);
      if (place(other) == place(stale)) {
        stale[0] = 1;
        break;
      }
      free(other);
    }
  }
}

static void legal(void) {
  uint64_t random = 1;
  char* blocks[neighbours] = {NULL};
  for (int turn = 0; turn < 3000; ++turn) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    char** const one = &blocks[(random >> 33) % neighbours];
    const size_t size = 1 + ((random >> 20) % (1u << 10) << ((random >> 40) % 8));
    const unsigned which = (random >> 60) % 4;
    if (which == 0) {
      free(*one);
      *one = calloc(1, size);
    } else if (which == 1) {
      free(*one);
      *one = aligned_alloc((size_t)16 << (random >> 50) % 8, size);
    } else {
      *one = realloc(*one, size);
    }
    if (*one == NULL) exit(1);
    memset(*one, 1, malloc_usable_size(*one));
  }
}

/* Returns: how many tags the addresses of blocks have. */
static int count_tags(void) {
  unsigned seen = 0;
  for (int each = 0; each < 1000; ++each) seen |= 1u << ((uintptr_t)malloc(64) >> 56 & 15);
  return __builtin_popcount(seen);
}

static void act(const char* deed, size_t size) {
  if (strcmp(deed, "next") == 0) reach_neighbour(size, 1);
  if (strcmp(deed, "previous") == 0) reach_neighbour(size, -1);
  if (strcmp(deed, "read") == 0) touch_freed(size, 0);
  if (strcmp(deed, "write") == 0) touch_freed(size, 1);
  if (strcmp(deed, "owner") == 0) touch_new_owner(size);
  if (strcmp(deed, "legal") == 0) legal();
}

/* Returns: whether the child ends as it must. */
static int ends_so(const char* deed, const char* kind, size_t size) {
  int ends[2];
  if (pipe(ends) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 2);
    act(deed, size);
    _exit(0);
  }
  close(ends[1]);
  static char text[4096];
  size_t length = 0;
  ssize_t more = 0;
  while ((more = read(ends[0], text + length, sizeof text - 1 - length)) > 0) length += (size_t)more;
  text[length] = 0;
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  if (strcmp(kind, "none") == 0) return status == 0 && length == 0;
  const int reported = WIFSIGNALED(status) && strstr(text, kind) != NULL;
  if (!reported) printf("%s of %zu bytes: status %d, %s\n", deed, size, status, text);
  return reported;
}

int main(int count, char** words) {
  enum { has_tags = 1 << 18 };
  if (count != 3 || (getauxval(AT_HWCAP2) & has_tags) == 0) return 77;
  if (count_tags() != 15) return 2; /* all but 0 */
  for (int each = 0; each < sizes; ++each) {
    if (!ends_so(words[1], words[2], all_sizes[each])) return 3;
  }
  return 0;
}
