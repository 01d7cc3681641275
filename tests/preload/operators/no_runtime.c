/* A program in C that calls operators of C++ of the library by their names, and has no runtime of
   C++. usage: no_runtime nothrow|throwing */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

static const size_t too_much = (size_t)1 << 60;

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (strcmp(argv[1], "nothrow") == 0) {
    void* (*make)(size_t, const void*);
    *(void**)&make = dlsym(RTLD_DEFAULT, "_ZnwmRKSt9nothrow_t");
    return make(too_much, "") == NULL ? 0 : 1;
  }
  void* (*make)(size_t);
  *(void**)&make = dlsym(RTLD_DEFAULT, "_Znwm");
  return make(too_much) == NULL ? 0 : 1;
}
