/* Large blocks that were freed, and are held back.
 *
 *   held secret SIZE   looks for the contents of a freed block in it, and in blocks of its size
 *   held shrunk SIZE   the same for what a block held before realloc made it a tenth as long
 *   held touched SIZE  reads a freed block
 *   held sparse        says how much more memory is in use after blocks that were hardly touched were
 *                      freed, in KiB
 *   held forks         threads allocate, resize and free while children are made that do the same
 *   held locked        frees blocks whose pages are locked in memory
 */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { letter = 'S', tries = 64, mib = 1 << 20 };

/* All programs of these tests are compiled with -fno-builtin: memchr is called, and reads. */
static int holds_letter(const char* block, size_t bytes) {
  return memchr(block, letter, bytes) != NULL;
}

static int in_new_blocks(size_t size) {
  for (int each = 0; each < tries; ++each) {
    const char* block = malloc(size);
    if (block == NULL || holds_letter(block, size)) return 1;
  }
  return 0;
}

static int secret(size_t size) {
  for (int round = 0; round < 3; ++round) {
    char* volatile block = malloc(size);
    memset(block, letter, malloc_usable_size(block));
    free(block);
    if (size < mib && holds_letter(block, size)) return 1;
    if (in_new_blocks(size) != 0) return 2;
  }
  puts("done");
  return 0;
}

static int shrunk(size_t size) {
  char* block = malloc(size);
  memset(block, letter, size);
  block = realloc(block, size / 10);
  memset(block, 0, malloc_usable_size(block));
  if (in_new_blocks(size / 10) != 0) return 1;
  puts("done");
  return 0;
}

static int touched(size_t size) {
  volatile char* block = malloc(size);
  memset((void*)block, letter, size);
  free((void*)block);
  printf("%p\n", (void*)(block + size / 2));
  fflush(stdout);
  return block[size / 2] == letter ? 1 : 2;
}

static long resident_kib(void) {
  long pages = 0;
  FILE* const from = fopen("/proc/self/statm", "r");
  if (from == NULL || fscanf(from, "%*d %ld", &pages) != 1) exit(3);
  fclose(from);
  return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static int sparse(void) {
  enum { many = 1000 };
  static char* blocks[many];
  for (int each = 0; each < many; ++each) {
    blocks[each] = malloc(mib - 100);
    blocks[each][0] = 1;
  }
  const long before = resident_kib();
  for (int each = 0; each < many; ++each) free(blocks[each]);
  printf("%ld\n", resident_kib() - before);
  return 0;
}

static void churn(uint64_t seed, int turns) {
  uint64_t random = seed * 2 + 1;
  char* blocks[8] = {NULL};
  for (int turn = 0; turn < turns; ++turn) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    char** const one = &blocks[(random >> 40) % 8];
    const size_t size = 40000 + ((random >> 33) % 64) * ((random >> 50) % 8 == 0 ? 60000 : 9000);
    if ((random >> 60) % 2 == 0) {
      *one = realloc(*one, size);
    } else {
      free(*one);
      *one = (random >> 61) % 2 == 0 ? malloc(size) : calloc(size, 1);
    }
    if (*one == NULL) _exit(4);
    (*one)[0] = 1;
    (*one)[size - 1] = 1;
  }
  for (int each = 0; each < 8; ++each) free(blocks[each]);
}

static void* churn_in_thread(void* seed) {
  churn((uintptr_t)seed, 3000);
  return NULL;
}

static int forks(void) {
  enum { threads = 3, children = 12 };
  pthread_t started[threads];
  for (uintptr_t each = 0; each < threads; ++each) {
    if (pthread_create(&started[each], NULL, churn_in_thread, (void*)each) != 0) return 1;
  }
  for (uintptr_t each = 0; each < children; ++each) {
    const pid_t child = fork();
    if (child == 0) {
      churn(each + threads, 300); /* so that most are made while all threads are at work */
      _exit(0);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 2;
  }
  for (int each = 0; each < threads; ++each) pthread_join(started[each], NULL);
  puts("done");
  return 0;
}

static int locked(void) {
  static const size_t sizes[] = {100000, 3 * (size_t)mib, 40 * (size_t)mib};
  for (int round = 0; round < 3; ++round) {
    for (int each = 0; each < 3; ++each) {
      char* volatile block = malloc(sizes[each]);
      if (mlock(block, 8192) != 0) return 1;
      memset(block, letter, sizes[each]);
      free(block);
    }
    for (int each = 0; each < 3; ++each) {
      const char* block = malloc(sizes[each]);
      if (holds_letter(block, sizes[each])) return 2;
    }
  }
  puts("done");
  return 0;
}

int main(int count, char** words) {
  const char* const use = words[1];
  const size_t size = count > 2 ? strtoul(words[2], NULL, 10) : 0;
  if (strcmp(use, "secret") == 0) return secret(size);
  if (strcmp(use, "shrunk") == 0) return shrunk(size);
  if (strcmp(use, "touched") == 0) return touched(size);
  if (strcmp(use, "sparse") == 0) return sparse();
  return strcmp(use, "forks") == 0 ? forks() : locked();
}
