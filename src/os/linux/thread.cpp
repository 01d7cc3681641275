// Threads made by the C library: for the collector, and for builds without bare threads.
#include <csignal>
#include <cstddef>

#include <pthread.h>

#include "os/linux/errno_keeper.hpp"
#include "os/os.hpp"

namespace heapwise::os {

namespace {

void* run_body(void* body) {
  reinterpret_cast<void (*)()>(body)();
  return nullptr;
}

constexpr std::size_t small_stack_bytes = std::size_t{128} << 10;

} // namespace

bool start_thread(void (*body)()) noexcept {
  const errno_keeper keep;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, small_stack_bytes);
  ::pthread_sigmask(SIG_SETMASK, &all, &before); // the new thread inherits this
  pthread_t thread;
  const bool started =
      ::pthread_create(&thread, &attributes, run_body, reinterpret_cast<void*>(body)) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return started;
}

} // namespace heapwise::os
