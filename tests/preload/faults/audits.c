// A library that audits the loader (rtld-audit(7)). It lives in a namespace of its own, with a
// malloc of its own, and is there before all others.
#define _GNU_SOURCE
#include <link.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void allocate(const char* text) {
  char* copy = strdup(text);
  free(copy);
}

unsigned la_version(unsigned version) {
  allocate("version");
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned la_objopen(struct link_map* object, Lmid_t space, uintptr_t* cookie) {
  (void)space;
  (void)cookie;
  allocate(object->l_name);
  return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned index, uintptr_t* from, uintptr_t* to,
                       unsigned* flags, const char* name) {
  (void)index;
  (void)from;
  (void)to;
  (void)flags;
  allocate(name);
  return symbol->st_value;
}
