/* A control for the tests of fork: the C library's malloc behind a lock that fork does not know of.
 * They must find it. */
#include <errno.h>
#include <pthread.h>
#include <stddef.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void __libc_free(void*);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void* malloc(size_t size) {
  pthread_mutex_lock(&lock);
  void* const block = __libc_malloc(size);
  pthread_mutex_unlock(&lock);
  return block;
}

void* calloc(size_t count, size_t size) {
  pthread_mutex_lock(&lock);
  void* const block = __libc_calloc(count, size);
  pthread_mutex_unlock(&lock);
  return block;
}

void* realloc(void* block, size_t size) {
  pthread_mutex_lock(&lock);
  void* const new_block = __libc_realloc(block, size);
  pthread_mutex_unlock(&lock);
  return new_block;
}

void free(void* block) {
  const int kept = errno;
  pthread_mutex_lock(&lock);
  __libc_free(block);
  pthread_mutex_unlock(&lock);
  errno = kept;
}
