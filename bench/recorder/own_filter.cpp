#include "recorder/own_filter.hpp"

#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <atomic>
#include <cerrno>

#include "probe/next.hpp"

namespace heapwise::bench {
namespace {

using word = unsigned long;
constinit next_function<int(int, word, word, word, word)> next_prctl{"prctl"};
constinit next_function<long(long, long, long, long, long, long, long)> next_syscall{"syscall"};

/// Relaxed: a thread that installs no filter itself is under one only after both have met.
constinit std::atomic<bool> filtered{false};

/// Before the call: no other thread may be ended by what it asks the kernel in between.
void note_filter() noexcept { filtered.store(true, std::memory_order_relaxed); }

/// Later, a signal handler may call one, and the look-up may take locks and memory.
__attribute__((constructor)) void find_functions() noexcept {
  static_cast<void>(next_prctl.get());
  static_cast<void>(next_syscall.get());
}

} // namespace

bool has_own_filter() noexcept { return filtered.load(std::memory_order_relaxed); }

} // namespace heapwise::bench

using namespace heapwise::bench;

// They are declared elsewhere with arguments that may be left out: here under other names. What the
// caller left out is passed on as it stands in the registers.
#pragma GCC visibility push(default)
extern "C" {

int heapwise_prctl(int option, word second, word third, word fourth, word fifth) noexcept
    __asm__("prctl");
int heapwise_prctl(int option, word second, word third, word fourth, word fifth) noexcept {
  if (option == PR_SET_SECCOMP) note_filter();
  auto* const next = next_prctl.get();
  if (next != nullptr) return next(option, second, third, fourth, fifth);
  errno = ENOSYS;
  return -1;
}

long heapwise_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept
    __asm__("syscall");
long heapwise_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  const bool by_prctl = number == SYS_prctl && a == PR_SET_SECCOMP;
  if (by_prctl || (number == SYS_seccomp && a != SECCOMP_GET_ACTION_AVAIL)) note_filter();
  auto* const next = next_syscall.get();
  if (next != nullptr) return next(number, a, b, c, d, e, f);
  errno = ENOSYS;
  return -1;
}

} // extern "C"
#pragma GCC visibility pop
