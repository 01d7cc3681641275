/* What the programs here share: how they fail, what they draw, what the kernel says they hold. */
#pragma once

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Ends the process with a line and without stdio, whose locks a forked child may find held. */
#define REQUIRE(condition)                                                \
  do {                                                                    \
    if (!(condition)) {                                                   \
      static const char line[] = __FILE__ ": not true: " #condition "\n"; \
      ssize_t ignored = write(2, line, sizeof line - 1);                  \
      (void)ignored;                                                      \
      _exit(1);                                                           \
    }                                                                     \
  } while (0)

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static inline uint64_t draw(uint64_t* state) {
  uint64_t word = *state += 0x9E3779B97F4A7C15u;
  word = (word ^ (word >> 30)) * 0xBF58476D1CE4E5B9u;
  word = (word ^ (word >> 27)) * 0x94D049BB133111EBu;
  return word ^ (word >> 31);
}

/* Mostly small, some of many pages. */
static inline size_t draw_size(uint64_t* state) {
  const uint64_t word = draw(state);
  if (word % 64 == 0) return (word >> 8) % 300000;
  return (word >> 8) % 1500;
}

/* A block whose first and last bytes say what it is. */
static inline unsigned char* signed_block(size_t size) {
  if (size < 16) size = 16;
  unsigned char* block = malloc(size);
  REQUIRE(block != NULL);
  memcpy(block, &size, sizeof size);
  block[size - 1] = (unsigned char)((uintptr_t)block >> 4);
  return block;
}

static inline void free_signed(unsigned char* block) {
  size_t size;
  memcpy(&size, block, sizeof size);
  if (size > 16) REQUIRE(block[size - 1] == (unsigned char)((uintptr_t)block >> 4));
  free(block);
}

/* Allocates and frees `count` blocks with at most 64 of them live. */
static inline void churn(uint64_t seed, int count) {
  unsigned char* kept[64] = {0};
  for (int i = 0; i < count; ++i) {
    unsigned char** const place = &kept[draw(&seed) % 64];
    if (*place != NULL) free_signed(*place);
    *place = signed_block(draw_size(&seed));
  }
  for (int i = 0; i < 64; ++i) {
    if (kept[i] != NULL) free_signed(kept[i]);
  }
}

/* Resident KiB that are not files: heap, stacks. Allocates nothing. */
static inline long resident_kib(void) {
  char text[4096];
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const ssize_t length = read(file, text, sizeof text - 1);
  close(file);
  REQUIRE(length > 0);
  text[length] = '\0';
  const char* const position = strstr(text, "RssAnon:");
  REQUIRE(position != NULL);
  return strtol(position + 8, NULL, 10);
}

static inline void start_thread(pthread_t* thread, void* (*body)(void*), void* argument) {
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 256 * 1024);
  REQUIRE(pthread_create(thread, &small, body, argument) == 0);
  pthread_attr_destroy(&small);
}
