/* Allocates while the loader chooses a function, before the C library is ready. */
#include <stdlib.h>

static int answer(void) { return 0; }

int (*choose(void))(void) {
  free(malloc(100));
  return answer;
}

int chosen(void) __attribute__((ifunc("choose")));

int main(void) { return chosen(); }
