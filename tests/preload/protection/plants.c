/* Plants one fault, named by the first argument, in the place that the second one names (main,
 * thread, child, handler). Prints the address and the thread beforehand. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char* kind;

static void say(const void* address) {
  char line[100];
  const int length = snprintf(line, sizeof line, "%p %d\n", address, (int)gettid());
  if (write(STDOUT_FILENO, line, (size_t)length) != length) _exit(2);
}

static void plant(void) {
  const size_t bytes = strstr(kind, "large") ? 200000 : strstr(kind, "long") ? 5000000 : 40;
  char* volatile block = malloc(bytes);
  if (strstr(kind, "interior")) {
    say(block + 16);
    free(block + 16);
  } else if (strstr(kind, "double")) {
    char* volatile other = malloc(bytes);
    say(block);
    free(block);
    free(other);
    free(block);
  } else if (strstr(kind, "foreign")) {
    char local[64];
    say(local + 16);
    free((void*)((uintptr_t)(local + 31) & ~(uintptr_t)15));
  } else if (strstr(kind, "realloc")) {
    say(block);
    free(block);
    block = realloc(block, 1000);
  } else if (strstr(kind, "overrun")) {
    say(block);
    memset(block, 'x', malloc_usable_size(block) + 1);
    free(block);
  } else if (strstr(kind, "behind")) {
    say(block + malloc_usable_size(block));
    block[malloc_usable_size(block)] = 'x';
  } else if (strstr(kind, "touched")) {
    free(block);
    say(block + 8);
    block[8] = 'x';
  } else if (strstr(kind, "written")) {
    free(block);
    say(block);
    block[8] = 'x';
    for (int i = 0; i < 100000; ++i) { /* what is freed drives it out of a quarantine */
      block = malloc(bytes);
      if (i % 2 == 0) free(block);
    }
  }
}

static void* in_thread(void* none) {
  plant();
  return none;
}

static void in_handler(int signal) {
  (void)signal;
  plant();
}

int main(int count, char** words) {
  if (count != 3) return 2;
  kind = words[1];
  if (strcmp(words[2], "thread") == 0) {
    pthread_t thread;
    pthread_create(&thread, NULL, in_thread, NULL);
    pthread_join(thread, NULL);
  } else if (strcmp(words[2], "child") == 0) {
    const pid_t child = fork();
    if (child == 0) plant();
    if (child == 0) _exit(0);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFSIGNALED(status)) raise(WTERMSIG(status));
  } else if (strcmp(words[2], "handler") == 0) {
    signal(SIGUSR1, in_handler);
    raise(SIGUSR1);
  } else if (strcmp(words[2], "closed") == 0) {
    close(STDERR_FILENO);
    plant();
  } else {
    plant();
  }
  return 0;
}
