// Names of the C library for calls that concern each thread of a process, or make a child without
// the handlers of fork. The C library knows nothing of the heap's thread. So it ends before a
// process changes its user, its rights, its filters, its namespaces or its table of open files, and
// rests while a child is made. (pivot_root changes the root of each thread by itself.)
//
// In the shared library only: a program that is linked statically has no other function of such a
// name to be called then. There the thread does not start while there are rights to be lost
// (heap/purge/purge_clock.cpp).
#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <dlfcn.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/prctl.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "heap/front/start.hpp"
#include "heap/purge/purge_clock.hpp"
#include "os/os.hpp"

namespace heapwise::detail {

extern const bool calls_stop_clock = true;

namespace {

/// The function that the program would have called.
template <class Function>
class next_function {
 public:
  explicit constexpr next_function(const char* name) noexcept : name_{name} {}

  template <class... Arguments>
  auto operator()(Arguments... arguments) noexcept
      -> decltype(std::declval<Function*>()(arguments...)) {
    Function* const function = find();
    if (function == nullptr) {
      errno = ENOSYS;
      return -1;
    }
    return function(arguments...);
  }

  /// Returns: the function, nullptr if there is none.
  Function* find() noexcept {
    // Relaxed: each thread finds the same.
    if (Function* const known = function_.load(std::memory_order_relaxed)) return known;
    auto* const function = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name_));
    function_.store(function, std::memory_order_relaxed);
    return function;
  }

 private:
  const char* name_;
  std::atomic<Function*> function_{nullptr};
};

template <class Function, class... Arguments>
auto without_clock(next_function<Function>& next, Arguments... arguments) noexcept {
  const clock_stop stop{after_stop::tick_again};
  return next(arguments...);
}

/// Effects: as without_clock, of a call that puts the process under a filter of system calls.
template <class Function, class... Arguments>
auto under_filter(next_function<Function>& next, Arguments... arguments) noexcept {
  const clock_stop stop{after_stop::rest};
  const auto result = next(arguments...);
  if (result >= 0) forbid_clock();
  return result;
}

constinit next_function<int(uid_t)> next_setuid{"setuid"};
constinit next_function<int(uid_t)> next_seteuid{"seteuid"};
constinit next_function<int(uid_t, uid_t)> next_setreuid{"setreuid"};
constinit next_function<int(uid_t, uid_t, uid_t)> next_setresuid{"setresuid"};
constinit next_function<int(gid_t)> next_setgid{"setgid"};
constinit next_function<int(gid_t)> next_setegid{"setegid"};
constinit next_function<int(gid_t, gid_t)> next_setregid{"setregid"};
constinit next_function<int(gid_t, gid_t, gid_t)> next_setresgid{"setresgid"};
constinit next_function<int(std::size_t, const gid_t*)> next_setgroups{"setgroups"};
constinit next_function<int(const char*, gid_t)> next_initgroups{"initgroups"};
constinit next_function<int(void*, const void*)> next_capset{"capset"};
constinit next_function<int(int)> next_unshare{"unshare"};
constinit next_function<int(int, int)> next_setns{"setns"};
constinit next_function<int(unsigned, unsigned, int)> next_close_range{"close_range"};

using word = unsigned long;
constinit next_function<int(int, word, word, word, word)> next_prctl{"prctl"};
constinit next_function<long(long, long, long, long, long, long, long)> next_syscall{"syscall"};

using clone_body = int (*)(void*);
constinit next_function<int(clone_body, void*, int, void*, void*, void*, void*)> next_clone{
    "clone"};

/// Effects: finds the functions. Later, a handler of a signal or the child of a fork may call one
/// while another thread has, or had, the lock of the loader.
[[gnu::constructor]] void find_functions() noexcept {
  const auto find_each = [](auto&... each) { (static_cast<void>(each.find()), ...); };
  find_each(next_setuid, next_seteuid, next_setreuid, next_setresuid, next_setgid, next_setegid,
            next_setregid, next_setresgid, next_setgroups, next_initgroups, next_capset,
            next_unshare, next_setns, next_close_range, next_prctl, next_syscall, next_clone);
}

/// Returns: whether it changes what a process may do.
bool changes_rights(int option) noexcept {
  return option == PR_SET_NO_NEW_PRIVS || option == PR_CAPBSET_DROP ||
         option == PR_SET_SECUREBITS || option == PR_CAP_AMBIENT;
}

// <sys/syscall.h> and <unistd.h> of the C library may be older than the kernel.
constexpr long close_range_number = 436;
constexpr long landlock_restrict_self = 446;
constexpr long close_range_unshare = 1L << 1;

/// Returns: whether the caller gets a table of open files of its own. Another thread would keep the
/// files open that the call closes.
bool leaves_files(long flags) noexcept { return (flags & close_range_unshare) != 0; }

bool changes_threads(long number, long third) noexcept {
  switch (number) {
    case SYS_setuid:
    case SYS_setgid:
    case SYS_setreuid:
    case SYS_setregid:
    case SYS_setresuid:
    case SYS_setresgid:
    case SYS_setgroups:
    case SYS_capset:
    case SYS_unshare:
    case SYS_setns:
    case landlock_restrict_self:
      return true;
    case close_range_number:
      return leaves_files(third);
    default:
      return false;
  }
}

/// The arguments of clone3 of its first version (<linux/sched.h>, which does not go with
/// <sched.h>).
struct clone_args {
  std::uint64_t flags, process, child_id, parent_id, exit_signal, stack, stack_bytes, variables;
};

/// Returns: whether the call makes a child with a copy of the memory, on the caller's stack.
bool makes_copy(long number, long first, long second) noexcept {
#if defined(SYS_fork)
  if (number == SYS_fork) return true;
#endif
  if (number == SYS_clone) return (first & CLONE_VM) == 0 && second == 0;
  if (number != SYS_clone3 || first == 0 || static_cast<word>(second) < sizeof(clone_args)) {
    return false;
  }
  const auto& wanted = *reinterpret_cast<const clone_args*>(first);
  return (wanted.flags & CLONE_VM) == 0 && wanted.stack == 0;
}

/// A child that `clone` makes on another stack.
struct cloned {
  clone_body body;
  void* argument;
};

int run_cloned(void* opaque) {
  const cloned child = *static_cast<const cloned*>(opaque);
  finish_bare_fork(true);
  return child.body(child.argument);
}

} // namespace

} // namespace heapwise::detail

using namespace heapwise::detail;

#pragma GCC visibility push(default)
extern "C" {

int setuid(uid_t user) noexcept { return without_clock(next_setuid, user); }
int seteuid(uid_t user) noexcept { return without_clock(next_seteuid, user); }
int setreuid(uid_t real, uid_t user) noexcept { return without_clock(next_setreuid, real, user); }
int setresuid(uid_t real, uid_t user, uid_t saved) noexcept {
  return without_clock(next_setresuid, real, user, saved);
}
int setgid(gid_t group) noexcept { return without_clock(next_setgid, group); }
int setegid(gid_t group) noexcept { return without_clock(next_setegid, group); }
int setregid(gid_t real, gid_t group) noexcept { return without_clock(next_setregid, real, group); }
int setresgid(gid_t real, gid_t group, gid_t saved) noexcept {
  return without_clock(next_setresgid, real, group, saved);
}
int setgroups(std::size_t count, const gid_t* groups) noexcept {
  return without_clock(next_setgroups, count, groups);
}
int initgroups(const char* user, gid_t group) {
  return without_clock(next_initgroups, user, group);
}
int capset(void* header, const void* data) noexcept {
  return without_clock(next_capset, header, data);
}
int unshare(int flags) noexcept { return without_clock(next_unshare, flags); }
int setns(int file, int kind) noexcept { return without_clock(next_setns, file, kind); }
int close_range(unsigned first, unsigned last, int flags) noexcept {
  if (leaves_files(flags)) return without_clock(next_close_range, first, last, flags);
  return next_close_range(first, last, flags);
}

// These are declared elsewhere with arguments that may be left out: here under other names.

int heapwise_prctl(int option, word second, word third, word fourth, word fifth) noexcept
    __asm__("prctl");
int heapwise_prctl(int option, word second, word third, word fourth, word fifth) noexcept {
  if (option == PR_SET_SECCOMP) {
    return under_filter(next_prctl, option, second, third, fourth, fifth);
  }
  if (changes_rights(option)) {
    return without_clock(next_prctl, option, second, third, fourth, fifth);
  }
  return next_prctl(option, second, third, fourth, fifth);
}

long heapwise_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept
    __asm__("syscall");
long heapwise_syscall(long number, long a, long b, long c, long d, long e, long f) noexcept {
  if (number == SYS_prctl) {
    return heapwise_prctl(static_cast<int>(a), static_cast<word>(b), static_cast<word>(c),
                          static_cast<word>(d), static_cast<word>(e));
  }
  if (number == SYS_seccomp && a != SECCOMP_GET_ACTION_AVAIL) {
    return under_filter(next_syscall, number, a, b, c, d, e, f);
  }
  if (changes_threads(number, c)) {
    // In a process of several threads it concerns one of them, which may do so again and again.
    const bool one = heapwise::os::has_one_library_thread();
    const clock_stop stop{one ? after_stop::tick_again : after_stop::rest};
    return next_syscall(number, a, b, c, d, e, f);
  }
  if (makes_copy(number, a, b) && heapwise::os::has_one_library_thread()) {
    prepare_bare_fork();
    const long child = next_syscall(number, a, b, c, d, e, f);
    finish_bare_fork(child == 0);
    return child;
  }
  return next_syscall(number, a, b, c, d, e, f);
}

int heapwise_clone(clone_body body, void* stack, int flags, void* argument, void* parent_id,
                   void* variables, void* child_id) noexcept __asm__("clone");
int heapwise_clone(clone_body body, void* stack, int flags, void* argument, void* parent_id,
                   void* variables, void* child_id) noexcept {
  if (body == nullptr || (flags & CLONE_VM) != 0 || !heapwise::os::has_one_library_thread()) {
    return next_clone(body, stack, flags, argument, parent_id, variables, child_id);
  }
  cloned child{.body = body, .argument = argument};
  prepare_bare_fork();
  const int number = next_clone(run_cloned, stack, flags, static_cast<void*>(&child), parent_id,
                                variables, child_id);
  finish_bare_fork(false);
  return number;
}

} // extern "C"
#pragma GCC visibility pop
