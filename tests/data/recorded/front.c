// A malloc that keeps the size before each block, and has no reallocarray.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { head = 16 };
static char early[1 << 16];
static size_t used;

static void* take(size_t size) {
  static void* (*next)(size_t);
  static int finding;
  if (next == NULL && !finding) {
    finding = 1;
    next = (void* (*)(size_t))dlsym(RTLD_NEXT, "malloc");
  }
  if (next != NULL) return next(size);
  char* block = early + used;
  used += (size + 15) / 16 * 16;
  return block;
}

void* malloc(size_t size) {
  size_t* block = take(size + head);
  if (block == NULL) return NULL;
  *block = size;
  return (char*)block + head;
}

void free(void* block) {
  static void (*next)(void*);
  char* begin = (char*)block - head;
  if (block == NULL || (begin >= early && begin < early + sizeof early)) return;
  if (next == NULL) next = (void (*)(void*))dlsym(RTLD_NEXT, "free");
  next(begin);
}

void* calloc(size_t count, size_t size) {
  void* block = malloc(count * size);
  return block == NULL ? NULL : memset(block, 0, count * size);
}

void* realloc(void* block, size_t size) {
  char* moved = malloc(size);
  if (block == NULL || moved == NULL) return moved;
  const size_t before = *(const size_t*)((const char*)block - head);
  memcpy(moved, block, before < size ? before : size);
  free(block);
  return moved;
}
