/* What a profiler or a communication library does in each function that it takes the place of: it
 * allocates, asks the loader, and uses a thread-local variable of a shared library. The functions
 * themselves are in an assembler file that interceptor.py writes; each asks `note` where to go on. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern const char* const intercepted_names[];
extern const unsigned intercepted_count;

static void* real[512];
static unsigned calls[512];
static _Thread_local unsigned depth;
static _Thread_local char room[9000];

static void do_what_they_do(unsigned name) {
  ++room[name % sizeof room];
  for (size_t bytes = 100; bytes < 500000; bytes *= 50) {
    char* const block = malloc(bytes);
    if (block != NULL) memset(block, 1, bytes);
    free(block);
  }
  (void)dlsym(RTLD_DEFAULT, "strtol");
}

/* Returns: where the function is that the library would have found without this one. */
void* note(unsigned name) {
  __atomic_fetch_add(&calls[name], 1, __ATOMIC_RELAXED);
  if (depth++ == 0) do_what_they_do(name);
  --depth;
  void* found = __atomic_load_n(&real[name], __ATOMIC_RELAXED);
  if (found == NULL) {
    found = dlsym(RTLD_NEXT, intercepted_names[name]);
    __atomic_store_n(&real[name], found, __ATOMIC_RELAXED);
  }
  return found;
}

static void put(const char* text) {
  if (write(2, text, strlen(text)) < 0) _exit(1);
}

__attribute__((destructor)) static void say_what_was_called(void) {
  if (getenv("INTERCEPTOR_SAYS") == NULL) return;
  ++depth; /* `write` may be one of them */
  for (unsigned each = 0; each < intercepted_count; ++each) {
    if (calls[each] == 0) continue;
    put("intercepted ");
    put(intercepted_names[each]);
    put("\n");
  }
}
