/* Blocks of heaps of their own, with a fault: argv[1] says which, argv[2] how many bytes they have.
 *
 *   owned twice      frees a block again after another one
 *   owned owner      frees a block again after the program was given others
 *   owned inside     frees an address in a block
 *   owned linked     writes an address into a free block, and asks for blocks
 *   owned written    writes behind the first words of a free block, and asks for blocks
 *   owned resized    gives a free block to realloc
 *   owned overrun    writes behind the bytes that a block may use, and frees it
 *   owned beyond     writes on from the end of the last block of a span, or of a large block
 *   owned touched    writes into a block after it was freed
 *   owned sampled    writes behind a block in a guarded page
 *   owned ended      writes into a block in a guarded page after its heap was destroyed
 *   owned secret     none: says whether what freed blocks and destroyed heaps held is gone
 *   owned legal      none: many blocks of all sizes, in several heaps
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
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

static make_heap make;
static take_block take;
static end_heap end;

/* Many blocks come and go: what waits is used again. A large block that waited serves `malloc`. */
static void churn(void* own, size_t size) {
  for (int turn = 0; turn < 5000; ++turn) {
    free(take(own, size));
    free(malloc(size));
  }
}

/* The last of the blocks in a span: no other one follows it in its slice. */
static char* last_of_a_span(void* own, size_t size) {
  enum { slice = 1 << 16, most = 5000 };
  char* before = take(own, size);
  if (size > slice / 2) return before;
  for (int each = 0; each < most; ++each) {
    char* const next = take(own, size);
    if (next < before || (uintptr_t)next / slice != (uintptr_t)before / slice) return before;
    before = next;
  }
  exit(4);
}

/* A block in a guarded page: far from the others, and it ends where its page ends. */
static char* sample(void* own, size_t size) {
  char* const first = take(own, 100000);
  for (int each = 0; each < 20000; ++each) {
    char* const block = take(own, size);
    const uintptr_t here = (uintptr_t)block;
    const uintptr_t there = (uintptr_t)first;
    const uintptr_t distance = here > there ? here - there : there - here;
    if (distance > (uintptr_t)1 << 36 && (here + malloc_usable_size(block)) % 4096 == 0) {
      return block;
    }
  }
  exit(3);
}

static int is_zero(const char* block, size_t size) {
  for (size_t at = 0; at < size; ++at) {
    if (block[at] != 0) return 0;
  }
  return 1;
}

/* Behind the first 16 bytes of a free block, since heaps of their own link it to others. */
static int secret(void* own, size_t size) {
  char* volatile freed = take(own, size);
  char* volatile kept = take(own, size);
  memset(freed, 1, size);
  memset(kept, 1, size);
  free(freed);
  puts(is_zero(freed + 16, size - 16) ? "cleared" : "left");
  end(own);
  puts(is_zero(kept, size) ? "cleared" : "left");
  return 0;
}

static void misuse(const char* how, size_t size) {
  void* const own = make();
  char* volatile block = take(own, size);
  char* volatile other = take(own, size);
  if (strcmp(how, "inside") == 0) {
    free(block + 16);
  } else if (strcmp(how, "overrun") == 0) {
    block[malloc_usable_size(block)] = 'x';
    free(block);
  } else if (strcmp(how, "beyond") == 0) {
    char* volatile last = last_of_a_span(own, size);
    last += malloc_usable_size(last);
    for (size_t at = 0; at < 1 << 19; ++at) last[at] = 'x';
  } else if (strcmp(how, "sampled") == 0) {
    char* volatile sampled = sample(own, size);
    sampled[malloc_usable_size(sampled)] = 'x';
  } else if (strcmp(how, "ended") == 0) {
    char* volatile sampled = realloc(sample(own, size), size);
    end(own);
    sampled[0] = 'x';
  } else {
    free(block);
    free(other);
    if (strcmp(how, "owner") == 0) churn(own, size / 2), take(own, size);
    if (strcmp(how, "resized") == 0) block = realloc(block, 2 * size);
    if (strcmp(how, "linked") == 0) {
      char* const wanted = target + 16;
      memcpy(other, &wanted, sizeof wanted);
      churn(own, size);
    } else if (strcmp(how, "written") == 0) {
      other[size / 2] = 'x';
      churn(own, size);
    } else if (strcmp(how, "touched") == 0) {
      other[size / 2] = 'x';
    } else {
      free(block);
    }
  }
}

int main(int count, char** words) {
  if (count != 3) return 2;
  make = (make_heap)(uintptr_t)function("heapwise_heap_create");
  take = (take_block)(uintptr_t)function("heapwise_heap_malloc");
  end = (end_heap)(uintptr_t)function("heapwise_heap_destroy");
  if (strcmp(words[1], "legal") == 0) return legal(make, take, end);
  const size_t size = strtoul(words[2], NULL, 10);
  if (strcmp(words[1], "secret") == 0) return secret(make(), size);
  misuse(words[1], size);
  puts("NOT CAUGHT");
  return 0;
}
