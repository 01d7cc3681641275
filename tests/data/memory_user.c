/* Uses MIB in each of COUNT processes at once, and MEMFD MiB in a memory file that it does not map. */
#define _GNU_SOURCE
#ifndef MILLISECONDS
#define MILLISECONDS 1500
#endif
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void use(size_t bytes) {
  volatile char* memory = malloc(bytes + 1);
  for (size_t byte = 0; byte <= bytes; byte += 1024) memory[byte] = 1;
  usleep(MILLISECONDS * 1000);
  free((void*)memory);
}

int main(int count, char** words) {
  const size_t bytes = (size_t)MIB << 20;
  static char page[1 << 20];
  const int file = memfd_create("cache", 0);
  for (int block = 0; block < MEMFD; ++block) {
    if (write(file, page, sizeof page) < 0) return 1;
  }
  for (int child = 1; child < COUNT; ++child) {
    if (fork() == 0) {
      use(bytes);
      _exit(0);
    }
  }
  use(bytes);
  while (wait(NULL) > 0) {
  }
  puts(count > 1 ? words[1] : "done");
  return 0;
}
