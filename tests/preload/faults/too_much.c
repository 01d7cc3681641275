/* Asks for twice the memory and swap of the machine, in one block. Prints what it got. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysinfo.h>

int main(void) {
  struct sysinfo machine;
  if (sysinfo(&machine) != 0) return 2;
  const size_t all = (machine.totalram + machine.totalswap) * (size_t)machine.mem_unit;
  void* volatile const block = malloc(2 * all);
  void* volatile const cleared = calloc(2, all);
  printf("%s %s\n", block != NULL ? "block" : "NULL", cleared != NULL ? "block" : "NULL");
  return 0;
}
