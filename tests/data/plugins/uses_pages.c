// Uses the library of pages.cpp: it was linked with it, or opens it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

#ifdef LINKED
int use_pages(void);
#endif

int main(int count, char **arguments) {
#ifdef LINKED
  int (*const use)(void) = use_pages;
#else
  void *const library = dlopen(arguments[count - 1], RTLD_NOW);
  if (!library) return 2;
  int (*const use)(void) = (int (*)(void))dlsym(library, "use_pages");
#endif
  if (count == 0 || !arguments[0] || use() != 0) return 1;
  puts("used");
  return 0;
}
