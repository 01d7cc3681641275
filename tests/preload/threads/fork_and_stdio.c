/* Forks while another thread either reads lines, for which stdio allocates with a file's lock held,
   or flushes all files, for which it holds the lock of their list. Both at once may hang under every
   malloc with handlers of fork (docs/how-it-works.md). */
#include <sys/wait.h>

#include "program.h"

static atomic_int stop;

static void* read_lines(void* unused) {
  FILE* const file = tmpfile();
  REQUIRE(file != NULL);
  for (int length = 10; length < 20000; length *= 2) {
    for (int i = 0; i < length; ++i) fputc('x', file);
    fputc('\n', file);
  }
  while (!atomic_load(&stop)) {
    rewind(file);
    char* line = NULL;
    size_t room = 0;
    while (getline(&line, &room, file) >= 0) {}
    free(line);
  }
  fclose(file);
  return unused;
}

static void* flush_all(void* unused) {
  while (!atomic_load(&stop)) REQUIRE(fflush(NULL) == 0);
  return unused;
}

int main(int count, char** words) {
  REQUIRE(count == 2);
  pthread_t thread;
  start_thread(&thread, strcmp(words[1], "read") == 0 ? read_lines : flush_all, NULL);
  for (int i = 0; i < 300; ++i) {
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
  pthread_join(thread, NULL);
  puts("done");
  return 0;
}
