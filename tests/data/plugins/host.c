// A program in C that opens a plug-in in C++, uses it, closes it, and does the same again.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int number_of(void);
typedef void *maker(size_t);
typedef void dropper(void *);

static void *function(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) exit(2);
  return found;
}

// Returns the result of the plug-in. `kept` is a block of another one, now closed, or null.
static int use(const char *path, int flags, void **kept) {
  void *library = dlopen(path, RTLD_NOW | flags);
  if (!library) {
    fprintf(stderr, "%s\n", dlerror());
    return 2;
  }
  // Both call their operators at their ends, as a jump: the return address is here.
  maker *make = (maker *)function(library, "plugin_make");
  dropper *drop = (dropper *)function(library, "plugin_drop");
  void *block = make(2222);
  memset(block, 1, 2222);
  const int result = ((number_of *)function(library, "plugin_work"))();
  drop(block);
  drop(((maker *)function(library, "plugin_make_here"))(3333));
  if (((number_of *)function(library, "plugin_shares"))()) {
    if (*kept) drop(*kept);
    *kept = make(4444);
  }
  if (dlerror()) return 3; // nobody has called dlsym() in vain
  dlclose(library);
  return result;
}

int main(int count, char **arguments) {
  const int flags = strcmp(arguments[1], "deepbind") == 0 ? RTLD_LOCAL | RTLD_DEEPBIND
                    : strcmp(arguments[1], "global") == 0 ? RTLD_GLOBAL
                                                          : RTLD_LOCAL;
  void *kept = NULL;
  for (int round = 0; round < 2; ++round) {
    for (int i = 2; i < count; ++i) {
      const int result = use(arguments[i], flags, &kept);
      if (result != 0) return result;
    }
  }
  puts("used");
  return 0;
}
