/* Blocks of heaps of their own, with a fault: argv[1] says which.
 *
 *   owned twice      frees a block again after another one
 *   owned inside     frees an address in a block
 *   owned linked     writes an address into a free block, and asks for blocks
 *   owned reported   frees a large block again
 *   owned legal      none: many blocks of all sizes, in several heaps
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void* (*make_heap)(void);
typedef void* (*take_block)(void* heap, size_t size);
typedef void (*end_heap)(void* heap);

static void* function(const char* name) {
  void* const symbol = dlsym(RTLD_DEFAULT, name);
  if (symbol == NULL) exit(77);
  return symbol;
}

static char target[64];

static int legal(make_heap make, take_block take, end_heap end) {
  enum { many = 200 };
  uint64_t random = 1;
  for (int heap = 0; heap < 20; ++heap) {
    void* const own = make();
    static char* blocks[many];
    memset(blocks, 0, sizeof blocks);
    for (int turn = 0; turn < 5000; ++turn) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      char** const one = &blocks[(random >> 33) % many];
      const size_t size = 1 + ((random >> 20) % (1u << 10) << ((random >> 40) % 8));
      free(*one);
      *one = take(own, size);
      if (*one == NULL) return 1;
      memset(*one, 1, size);
      if (turn % 7 == 0) *one = realloc(*one, size * 2);
    }
    end(own);
  }
  puts("done");
  return 0;
}

int main(int count, char** words) {
  if (count != 2) return 2;
  const make_heap make = (make_heap)(uintptr_t)function("heapwise_heap_create");
  const take_block take = (take_block)(uintptr_t)function("heapwise_heap_malloc");
  const end_heap end = (end_heap)(uintptr_t)function("heapwise_heap_destroy");
  if (strcmp(words[1], "legal") == 0) return legal(make, take, end);
  void* const own = make();
  const size_t size = strcmp(words[1], "reported") == 0 ? 100000 : 48;
  char* volatile block = take(own, size);
  char* volatile other = take(own, size);
  if (strcmp(words[1], "inside") == 0) free(block + 16);
  free(block);
  free(other);
  if (strcmp(words[1], "linked") == 0) {
    char* const wanted = target + 16;
    memcpy(other, &wanted, sizeof wanted);
    take(own, size);
    if ((char*)take(own, size) == wanted) puts("TAKEN");
  } else {
    free(block);
  }
  puts("NOT CAUGHT");
  return 0;
}
