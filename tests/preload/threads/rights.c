/* rights CALL...: frees much, so that a heap may give it back by a thread of its own, makes each of
   these calls in a child, and expects that no thread of it keeps what the call took away. 77: a
   call was not permitted. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "program.h"

enum { nobody = 65534, not_permitted = 77, blocks = 110, bytes = 100000 };

static void free_much(void) {
  static char* kept[blocks];
  for (int i = 0; i < blocks; ++i) {
    kept[i] = malloc(bytes);
    REQUIRE(kept[i] != NULL);
    memset(kept[i], 1, bytes);
  }
  for (int i = 0; i < blocks; ++i) free(kept[i]);
}

static int opened_last = -1; /* after a call that gives the process a table of open files */

/* What a process may do, and where: of a thread, as the kernel tells it. */
static void describe(const char* thread, char* into, size_t room) {
  static const char* const lines[] = {"Uid:", "Gid:", "Groups:", "Cap", "NoNewPrivs:", "Seccomp:"};
  char path[300];
  char line[4096];
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  FILE* const file = fopen(path, "r");
  into[0] = '\0';
  if (file == NULL) return; /* it has ended */
  while (fgets(line, sizeof line, file) != NULL) {
    for (size_t i = 0; i < sizeof lines / sizeof *lines; ++i) {
      if (strncmp(line, lines[i], strlen(lines[i])) == 0)
        strncat(into, line, room - strlen(into) - 1);
    }
  }
  fclose(file);
  if (opened_last >= 0) {
    snprintf(path, sizeof path, "/proc/self/task/%s/fd/%d", thread, opened_last);
    strncat(into, access(path, F_OK) == 0 ? "opened" : "not open", room - strlen(into) - 1);
  }
  static const char* const spaces[] = {"mnt", "uts", "net", "ipc"};
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; ++i) {
    snprintf(path, sizeof path, "/proc/self/task/%s/ns/%s", thread, spaces[i]);
    const ssize_t length = readlink(path, line, sizeof line - 1);
    if (length < 0) continue;
    line[length] = '\0';
    strncat(into, line, room - strlen(into) - 1);
  }
}

static void expect_all_alike(void) {
  char own[16];
  char first[8192];
  char other[8192];
  snprintf(own, sizeof own, "%d", getpid());
  describe(own, first, sizeof first);
  DIR* const threads = opendir("/proc/self/task");
  REQUIRE(threads != NULL);
  for (struct dirent* each; (each = readdir(threads)) != NULL;) {
    if (each->d_name[0] == '.') continue;
    describe(each->d_name, other, sizeof other);
    REQUIRE(other[0] == '\0' || strcmp(first, other) == 0);
  }
  closedir(threads);
}

static long drop_capabilities(int raw) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {{0, 0, 0}, {0, 0, 0}};
  extern int capset(void*, const void*);
  return raw ? syscall(SYS_capset, &header, none) : capset(&header, none);
}

static long filter(int raw) {
  static struct sock_filter allow = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
  const struct sock_fprog program = {1, &allow};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -1;
  return raw ? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
             : prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}

/* A thread that kept the old table would keep open what the process closes. */
static long leave_files(int raw) {
  enum { first = 900, last = 901, unshare_them = 1 << 1 /* CLOSE_RANGE_UNSHARE */ };
  extern int close_range(unsigned, unsigned, int);
  const long result = raw ? syscall(SYS_close_range, first, last, unshare_them)
                          : close_range(first, last, unshare_them);
  if (result == 0) opened_last = open("/", O_RDONLY | O_DIRECTORY);
  return result;
}

#define CALL(call) \
  if (strcmp(name, #call) == 0) return call

static long make_call(const char* name) {
  CALL(setuid(nobody));
  CALL(seteuid(nobody));
  CALL(setreuid(nobody, nobody));
  CALL(setresuid(nobody, nobody, nobody));
  CALL(setgid(nobody));
  CALL(setegid(nobody));
  CALL(setregid(nobody, nobody));
  CALL(setresgid(nobody, nobody, nobody));
  CALL(setgroups(0, NULL));
  CALL(initgroups("nobody", nobody));
  CALL(drop_capabilities(0));
  CALL(drop_capabilities(1));
  CALL(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  CALL(prctl(PR_CAPBSET_DROP, CAP_SYS_TIME, 0, 0, 0));
  CALL(syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
  CALL(syscall(SYS_setresuid, nobody, nobody, nobody));
  CALL(syscall(SYS_setgroups, 0, NULL));
  CALL(filter(0));
  CALL(filter(1));
  CALL(unshare(CLONE_NEWUSER));
  CALL(unshare(CLONE_NEWNS | CLONE_NEWUTS));
  CALL(syscall(SYS_unshare, CLONE_NEWNET));
  CALL(leave_files(0));
  CALL(leave_files(1));
  REQUIRE(!"a known call");
  return -1;
}

static int try_call(const char* name) {
  alarm(60);
  for (int turn = 0; turn < 3; ++turn) {
    free_much();
    if (make_call(name) == 0) {
      expect_all_alike();
      free_much();
      expect_all_alike();
      return 0;
    }
    /* May be for the moment: so it was while a thread of the heap was there. */
    if (errno != EPERM) {
      dprintf(2, "%s: %s\n", name, strerror(errno));
      return 1;
    }
  }
  return not_permitted;
}

int main(int count, char** words) {
  int skipped = 0;
  for (int i = 1; i < count; ++i) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) _exit(try_call(words[i]));
    int status = -1;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == not_permitted) {
      ++skipped;
    } else if (status != 0) {
      dprintf(2, "after %s a thread of the process keeps what it took away (%d)\n", words[i],
              status);
      return 1;
    }
  }
  puts(skipped == 0 ? "done" : "partly permitted");
  return skipped == 0 ? 0 : not_permitted;
}
