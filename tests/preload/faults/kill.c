/* kill {but|only} CALL... -- PROGRAM ARGUMENTS: starts the program with a filter that ends it when it
 * makes another system call than these numbers, or one of them: as SystemCallFilter= of systemd. */
#include "filter.h"

int main(int argc, char** argv) {
  static struct filter filter;
  REQUIRE(argc > 3);
  const int lists_forbidden = strcmp(argv[1], "only") == 0;
  const uint32_t listed = lists_forbidden ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ALLOW;
  const uint32_t other = lists_forbidden ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS;
  int i = 2;
  for (; i < argc && strcmp(argv[i], "--") != 0; ++i) answer_to(&filter, atol(argv[i]), listed);
  REQUIRE(i + 1 < argc);
  answer(&filter, other);
  install(&filter);
  execv(argv[i + 1], argv + i + 1);
  return 126;
}
