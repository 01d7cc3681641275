// Threads that are registered before their first instruction of the program.
#include <cerrno>

#include <pthread.h>

#include "gc/exported.hpp"

#pragma GCC visibility push(default)
#include "heapwise/gc_redirect.h"
#pragma GCC visibility pop

#undef pthread_create

namespace {

struct thread_start {
  void* (*call)(void*);
  void* argument;
};

/// `memory`: a thread_start in a block that is kept.
void* run(void* memory) {
  heapwise_gc_register_thread();
  const thread_start begun = *static_cast<thread_start*>(memory); // on a stack that is a root
  heapwise_gc_free(memory);
  return begun.call(begun.argument);
}

} // namespace

int heapwise_gc_pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                               void* (*start)(void*), void* argument) {
  auto* const begun =
      static_cast<thread_start*>(heapwise_gc_malloc_uncollectable(sizeof(thread_start)));
  if (begun == nullptr) return EAGAIN;
  *begun = {start, argument};
  const int error = ::pthread_create(thread, attributes, run, begun);
  if (error != 0) heapwise_gc_free(begun);
  return error;
}
