/* bare_children HOW: a program of one thread makes children without the handlers of fork, while
   the heap gives memory back. Each child uses the heap and gives memory back itself, and so does
   the parent afterwards. */
#define _GNU_SOURCE
#include <malloc.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "program.h"

enum { blocks = 300, bytes = 100000, children = 6, little_kib = 15 * 1024 };

static char* kept[blocks];

static void fill(void) {
  for (int i = 0; i < blocks; ++i) {
    kept[i] = malloc(bytes);
    REQUIRE(kept[i] != NULL);
    memset(kept[i], 1, bytes);
  }
}

static void drop(void) {
  for (int i = 0; i < blocks; ++i) free(kept[i]);
}

static void expect_little_soon(void) {
  for (int look = 0; resident_kib() > little_kib; ++look) {
    REQUIRE(look < 3000);
    usleep(10000);
  }
}

static int use_heap(void* with_more) {
  alarm(60);
  churn(1, 2000);
  if (with_more != NULL) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(0);
    REQUIRE(waitpid(child, NULL, 0) == child);
    malloc_trim(0);
    fill();
    drop();
    expect_little_soon();
  }
  _exit(0);
}

static pid_t make_child(const char* how) {
  static char stack[256 * 1024];
  if (strcmp(how, "clone") == 0) {
    return clone(use_heap, stack + sizeof stack, SIGCHLD, stack);
  }
  if (strcmp(how, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) { /* POSIX forbids it, and programs do it */
      drop();
      fill();
      drop();
      _exit(0);
    }
    fill();
    return child;
  }
  pid_t child = -1;
  if (strcmp(how, "syscall") == 0) child = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
  if (strcmp(how, "clone3") == 0) {
    const uint64_t arguments[8] = {[4] = SIGCHLD};
    child = (pid_t)syscall(SYS_clone3, arguments, sizeof arguments);
  }
  if (child == 0) use_heap(&child);
  return child;
}

int main(int count, char** words) {
  REQUIRE(count == 2);
  alarm(100);
  for (int i = 0; i < children; ++i) {
    fill();
    drop();
    usleep((useconds_t)(i * 6000));
    if (strcmp(words[1], "vfork") == 0) fill();
    const pid_t child = make_child(words[1]);
    REQUIRE(child > 0);
    if (strcmp(words[1], "vfork") == 0) drop();
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(status == 0);
  }
  fill();
  drop();
  churn(2, 20000);
  expect_little_soon();
  puts("done");
  return 0;
}
