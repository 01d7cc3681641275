/* Frees a block twice, with another block between, so that each profile that checks finds it. */
#include <stdlib.h>

__attribute__((noinline)) void* make(void) {
  void* volatile block = malloc(40);
  return block;
}

__attribute__((noinline)) void drop(void* block) {
  free(block);
  __asm__ volatile("");
}

int main(void) {
  void* const block = make();
  drop(block);
  drop(block);
  return 0;
}
