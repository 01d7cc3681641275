/* A library to be loaded at run time. Its thread-local variables are then allocated by malloc, when
   a thread uses them first, and freed by the C library after the thread has ended. */
#include <stddef.h>

static __thread char bytes[24u << 20];

char* storage(size_t* size) {
  *size = sizeof bytes;
  return bytes;
}
