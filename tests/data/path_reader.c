/* Allocates a block for each letter of its own path, as programs do that look where they lie.
   EXTRA: blocks more. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef EXTRA
#define EXTRA 0
#endif

int main(int count, char** words) {
  char path[PATH_MAX] = "";
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  const size_t blocks = (size_t)(length < 0 ? 0 : length) + strlen(words[0]) + EXTRA;
  for (size_t block = 0; block < blocks; ++block) {
    void* volatile memory = malloc(64);
    free(memory);
  }
  puts(count > 1 ? words[1] : "done");
  return 0;
}
