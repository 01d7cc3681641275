#include "os/owner.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "os/mutex.hpp"

namespace {

namespace os = heapwise::os;
using contract::exit_unless;

/// Effects: the child of a bare system call runs `body`. Requires: no sanitizer.
template <class Body>
void in_bare_child(const Body& body) {
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
  exit_unless(child >= 0, 100);
  if (child == 0) {
    ::alarm(20);
    body();
    ::_exit(0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  if (status != 0) std::_Exit(WIFEXITED(status) ? WEXITSTATUS(status) : 101);
}

constexpr std::size_t stack_bytes = std::size_t{64} << 10;
os::owner seen_by_child{};

/// Effects: a child that shares the memory asks whose it is. Returns: whether there could be one.
bool ask_beside(int more_flags) {
  alignas(16) static char stack[stack_bytes];
  const auto body = [](void*) {
    seen_by_child = os::owner_of_memory();
    return 0;
  };
  const pid_t child =
      ::clone(body, stack + stack_bytes, CLONE_VM | CLONE_VFORK | SIGCHLD | more_flags, nullptr);
  if (child < 0) return false;
  ::waitpid(child, nullptr, 0);
  return true;
}

TEST_CASE("memory belongs to the process that claimed it, and a copy of it to nobody") {
  const contract::ending how = contract::in_child([] {
    os::claim_memory();
    exit_unless(os::owner_of_memory() == os::owner::this_process && !os::is_copy(), 1);
    os::the_owned_words.load()->heap = 7;
    in_bare_child([] {
      exit_unless(os::owner_of_memory() == os::owner::nobody && os::is_copy(), 2);
      exit_unless(os::the_owned_words.load()->heap == 0, 3);
      os::claim_memory();
      exit_unless(os::owner_of_memory() == os::owner::this_process && !os::is_copy(), 4);
    });
    exit_unless(os::owner_of_memory() == os::owner::this_process, 5);
    exit_unless(os::the_owned_words.load()->heap == 7, 6);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a child that shares the memory of its parent does not own it") {
  const contract::ending how = contract::in_child([] {
    os::claim_memory();
    exit_unless(ask_beside(0), 1);
    exit_unless(seen_by_child == os::owner::other_process, 2);
    exit_unless(os::owner_of_memory() == os::owner::this_process, 3);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("so it is if both are the first processes of their namespaces") {
  const contract::ending how = contract::in_child([] {
    if (::unshare(CLONE_NEWPID) != 0) return; // a right that few have
    const pid_t init = ::fork();
    if (init == 0) {
      os::claim_memory();
      exit_unless(::getpid() == 1, 1);
      exit_unless(ask_beside(CLONE_NEWPID), 2);
      exit_unless(seen_by_child == os::owner::other_process, 3);
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(init, &status, 0);
    exit_unless(status == 0, 4);
  });
  CHECK(how.exit_code == 0);
}

os::mutex held;

TEST_CASE("a lock that a thread of the parent holds is free in a copy") {
  const contract::ending how = contract::in_child([] {
    os::claim_memory();
    held.lock();
    in_bare_child([] {
      held.lock();
      held.unlock();
      exit_unless(!held.is_locked(), 1);
    });
  });
  CHECK(how.exit_code == 0);
}

} // namespace
