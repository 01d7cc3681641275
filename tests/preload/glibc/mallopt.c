/* Each parameter of <malloc.h> can be set, as mallopt(3) says, and no other one. */
#include <malloc.h>
#include <stdio.h>

int main(void) {
  const int known[] = {M_MXFAST,    M_TRIM_THRESHOLD, M_TOP_PAD, M_MMAP_THRESHOLD,
                       M_MMAP_MAX,  M_CHECK_ACTION,   M_PERTURB, M_ARENA_TEST,
                       M_ARENA_MAX, M_NLBLKS,         M_GRAIN,   M_KEEP};
  int refused = 0;
  for (size_t i = 0; i < sizeof known / sizeof *known; ++i) refused += mallopt(known[i], 1) != 1;
  printf("%d refused\n", refused);
  return refused;
}
