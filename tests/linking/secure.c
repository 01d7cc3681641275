/* Runs itself as a program that has other rights than its user: such a program takes no advice from
   the environment. Ends with 77 where that cannot be tried. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <heapwise/malloc.h>

enum { cannot_be_tried = 77, nobody = 65534 };

/* The environment says that this is to be ignored. */
static int free_twice(void) {
  void* const block = heapwise_malloc(100);
  heapwise_free(block);
  heapwise_free(block);
  return 1;
}

static int copy_of_this(const char* path) {
  const int from = open("/proc/self/exe", O_RDONLY);
  const int to = open(path, O_WRONLY | O_CREAT | O_EXCL, 0700);
  if (from < 0 || to < 0) return 0;
  char buffer[65536];
  for (ssize_t got; (got = read(from, buffer, sizeof buffer)) > 0;) {
    if (write(to, buffer, (size_t)got) != got) return 0;
  }
  const int done = fchown(to, nobody, nobody) == 0 && fchmod(to, 04755) == 0;
  close(from);
  close(to);
  return done;
}

int main(int count, char** words) {
  (void)words;
  if (count == 2) return getauxval(AT_SECURE) != 0 ? free_twice() : cannot_be_tried;
  char folder[] = "/tmp/heapwise-secure-XXXXXX";
  char path[sizeof folder + 8];
  if (mkdtemp(folder) == NULL || chmod(folder, 0755) != 0) return cannot_be_tried;
  snprintf(path, sizeof path, "%s/copy", folder);
  int status = cannot_be_tried << 8;
  if (copy_of_this(path)) {
    const pid_t child = fork();
    if (child == 0) {
      setenv("HEAPWISE_MALLOC_INVALID_FREE", "ignore", 1);
      execl(path, path, "inside", (char*)NULL);
      _exit(cannot_be_tried);
    }
    waitpid(child, &status, 0);
  }
  unlink(path);
  rmdir(folder);
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  return WTERMSIG(status) == SIGABRT ? 0 : 2;
}
