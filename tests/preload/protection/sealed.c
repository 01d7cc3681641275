/* Writes to what the heap never changes once it has started.
 *
 *   sealed NUMBER...   for each number of bytes behind the begin of the library: what became of a
 *                      child that wrote there, "wrote" or the number of the signal that ended it
 */
#define _GNU_SOURCE
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int find_library(struct dl_phdr_info* library, size_t size, void* begin) {
  (void)size;
  if (strstr(library->dlpi_name, "libheapwise-malloc") == NULL) return 0;
  *(uintptr_t*)begin = library->dlpi_addr;
  return 1;
}

static int ending_of_a_write(volatile char* target) {
  const pid_t child = fork();
  if (child == 0) {
    *target = *target;
    _exit(0);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) exit(3);
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

int main(int count, char** words) {
  uintptr_t begin = 0;
  free(malloc(1));
  if (!dl_iterate_phdr(find_library, &begin)) return 77;
  for (int each = 1; each < count; ++each) {
    const uintptr_t offset = strtoull(words[each], NULL, 16);
    const int signal_number = ending_of_a_write((volatile char*)(begin + offset));
    if (signal_number == 0) {
      puts("wrote");
    } else {
      printf("%d\n", signal_number);
    }
  }
  return 0;
}
