/* A program in C that loads a plug-in in C++, as Python, R and PostgreSQL do: the plug-in's runtime
   of C++ is visible to the plug-in alone. usage: host PLUGIN */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  free(malloc(100));
  void* const plugin = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (plugin == NULL) {
    fprintf(stderr, "no plug-in: %s\n", dlerror());
    return 2;
  }
  int (*use)(void);
  *(void**)&use = dlsym(plugin, "use_operators");
  return use();
}
