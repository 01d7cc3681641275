/* Uses memory of known sizes for some time: argv[1] MiB of its own, for argv[2] milliseconds. With
 * "fork" a child has as much again; with a path, 8 MiB are written into that file before. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t mib = (size_t)1 << 20;

static void touch(size_t bytes) {
  char* const memory =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) exit(2);
  memset(memory, 1, bytes);
}

static void write_file(const char* path) {
  static char block[1 << 20];
  unlink(path); /* pages that are there count for the group that wrote them */
  const int file = open(path, O_WRONLY | O_CREAT, 0600);
  for (int i = 0; i < 8; ++i) {
    if (write(file, block, sizeof block) != (ssize_t)sizeof block) exit(3);
  }
  close(file);
}

int main(int argc, char** argv) {
  if (argc < 3) return 4;
  const int forks = argc > 3 && strcmp(argv[3], "fork") == 0;
  if (argc > 3 && !forks) write_file(argv[3]);
  const pid_t child = forks ? fork() : -1;
  touch(strtoul(argv[1], NULL, 10) * mib);
  usleep((useconds_t)atoi(argv[2]) * 1000);
  int status = 0;
  if (child > 0 && (waitpid(child, &status, 0) != child || status != 0)) return 5;
  return 0;
}
