/* Runs a program as often as AGAIN_TIMES says, one run after the other: again PROGRAM [ARGUMENT...]
 *
 * So a process of 11 runs has 10 % more work of the same kind than one of 10, whatever the machine
 * does to both. The first run has the output of this process, the rest write into /dev/null. Ends
 * with the status of the first run that fails, or 128 and the number of its signal.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

static int run(char** words, const posix_spawn_file_actions_t* actions) {
  pid_t child;
  const int error = posix_spawnp(&child, words[0], actions, NULL, words, environ);
  if (error != 0) {
    fprintf(stderr, "again: %s: %s\n", words[0], strerror(error));
    return 127;
  }
  int status;
  if (waitpid(child, &status, 0) != child) return 126;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int count, char** words) {
  const char* times = getenv("AGAIN_TIMES");
  if (count < 2 || times == NULL) {
    fprintf(stderr, "use: AGAIN_TIMES=N again PROGRAM [ARGUMENT...]\n");
    return 2;
  }
  posix_spawn_file_actions_t quietly;
  posix_spawn_file_actions_init(&quietly);
  posix_spawn_file_actions_addopen(&quietly, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&quietly, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  for (long number = 0; number < atol(times); ++number) {
    const int status = run(words + 1, number == 0 ? NULL : &quietly);
    if (status != 0) return status;
  }
  return 0;
}
