/* Forks while other threads read lines, for which stdio allocates with a file's lock held, or flush
   all files, for which it holds the lock of their list, or do both (glibc bug 19431). */
#include <sys/wait.h>

#include "program.h"

enum { readers = 3, forks_beside_one = 300, forks_beside_both = 15 };

static atomic_int stop;

static void* read_lines(void* unused) {
  FILE* const file = tmpfile();
  REQUIRE(file != NULL);
  for (int length = 10; length < 100000; length *= 2) {
    for (int i = 0; i < length; ++i) fputc('x', file);
    fputc('\n', file);
  }
  while (!atomic_load(&stop)) {
    rewind(file);
    char* line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) >= 0) {
    }
    free(line);
  }
  fclose(file);
  return unused;
}

static void* flush_all(void* unused) {
  while (!atomic_load(&stop)) {
    REQUIRE(fflush(NULL) == 0);
    usleep(3000); /* else no other thread gets the lock of the list for long */
  }
  return unused;
}

int main(int count, char** words) {
  REQUIRE(count == 2);
  const int reads = strcmp(words[1], "flush") != 0;
  const int flushes = strcmp(words[1], "read") != 0;
  pthread_t threads[readers + 1];
  int started = 0;
  for (int i = 0; reads && i < (flushes ? readers : 1); ++i) {
    start_thread(&threads[started++], read_lines, NULL);
  }
  if (flushes) start_thread(&threads[started++], flush_all, NULL);
  alarm(60);
  for (int i = 0; i < (reads && flushes ? forks_beside_both : forks_beside_one); ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      alarm(60);
      churn((uint64_t)i, 200);
      _exit(fflush(NULL));
    }
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
  atomic_store(&stop, 1);
  while (started > 0) pthread_join(threads[--started], NULL);
  puts("done");
  return 0;
}
