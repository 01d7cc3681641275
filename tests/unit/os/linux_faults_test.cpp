#include "os/reports/faults.hpp"

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdlib>

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "contract/child.hpp"
#include "os/os.hpp"

namespace {

namespace os = heapwise::os;
using contract::exit_unless;

/// Returns: whether a child may touch the byte. It is a fork: what is hidden stays so there.
bool can_touch(volatile std::byte* byte) {
  return contract::in_child([&] { *byte = std::byte{1}; }).exit_code == 0;
}

void hide_and_reveal() {
  const std::size_t page = os::page_bytes();
  auto* const memory = static_cast<std::byte*>(os::map(3 * page, page));
  REQUIRE(memory != nullptr);
  for (std::size_t at = 0; at < 3 * page; ++at) memory[at] = std::byte{7};
  errno = 42;
  const os::hidden_by how = os::hide(memory + page, page);
  CHECK(errno == 42);
  REQUIRE(how != os::hidden_by::nothing);
  CHECK_FALSE(can_touch(memory + page));
  CHECK_FALSE(can_touch(memory + 2 * page - 1));
  CHECK(can_touch(memory + page - 1));
  CHECK(can_touch(memory + 2 * page));
  CHECK(os::purge(memory, 3 * page)); // it stays hidden
  CHECK_FALSE(can_touch(memory + page));
  CHECK(os::reveal(memory + page, page, how));
  for (std::size_t at = 0; at < page; ++at) REQUIRE(memory[page + at] == std::byte{0});
  CHECK(can_touch(memory + page));
  os::unmap(memory, 3 * page);
}

TEST_CASE("hidden pages cannot be touched, and are zero when they are revealed") {
  os::prepare_hiding();
  hide_and_reveal();
}

TEST_CASE("pages of a process that locks its memory are hidden by protection") {
  os::prepare_hiding();
  const std::size_t page = os::page_bytes();
  void* const memory = os::map(page, page);
  REQUIRE(memory != nullptr);
  if (::mlock(memory, page) != 0) {
    MESSAGE("no memory may be locked here");
  } else if (const os::hidden_by how = os::hide(memory, page); how == os::hidden_by::protection) {
    CHECK_FALSE(can_touch(static_cast<std::byte*>(memory)));
    CHECK(os::reveal(memory, page, how));
  }
  os::unmap(memory, page);
}

TEST_CASE("pages that may not be given back later are not hidden by protection") {
  const auto ended = contract::in_child([] {
    const rlimit data{.rlim_cur = rlim_t{1} << 30, .rlim_max = RLIM_INFINITY};
    if (::setrlimit(RLIMIT_DATA, &data) != 0) std::_Exit(2);
    rlimit seen{};
    if (::getrlimit(RLIMIT_DATA, &seen) != 0) std::_Exit(2);
    if (seen.rlim_cur != data.rlim_cur) std::_Exit(0); // qemu's user mode has none
    os::prepare_hiding();
    const std::size_t page = os::page_bytes();
    void* const memory = os::map(page, page);
    if (::mlock(memory, page) != 0) std::_Exit(0); // else marks would do
    if (os::hide(memory, page) != os::hidden_by::nothing) std::_Exit(1);
  });
  CHECK(ended.exit_code == 0);
}

// A SIGSEGV that a process sent has the effect that it has without the heap.

using sender = void (*)();

void by_kill() { ::kill(::getpid(), SIGSEGV); }
void by_raise() { std::raise(SIGSEGV); }
void by_queue() { ::sigqueue(::getpid(), SIGSEGV, {.sival_int = 42}); }

void by_another_process() {
  const pid_t target = ::getpid();
  const pid_t other = ::fork();
  if (other == 0) {
    ::kill(target, SIGSEGV);
    ::_exit(0);
  }
  ::waitpid(other, nullptr, 0);
}

constexpr sender senders[]{by_kill, by_raise, by_queue, by_another_process};

/// An action for faults where none is to be seen.
void see_fault(const void* /*address*/) { std::_Exit(99); }

TEST_CASE("a frame in memory that another thread may hide ends the trace") {
  struct frame {
    const frame* caller;
    const void* returns_to;
  };
  const auto* const own = static_cast<const frame*>(__builtin_frame_address(0));
  const os::stack_trace whole = os::trace_stack();
  const os::stack_trace part = os::trace_stack({own->caller, own->caller + 1});
  REQUIRE(whole.count > 1);
  CHECK(part.count < whole.count);
  CHECK(part.count > 0);
}

TEST_CASE("a SIGSEGV that was sent ends a process as it does without the watch") {
  for (const sender send : senders) {
    const contract::ending how = contract::in_child([&] {
      os::watch_faults(see_fault);
      send();
    });
    CHECK(how.signal == SIGSEGV);
  }
}

volatile sig_atomic_t calls = 0;
siginfo_t last_told;

void count_call(int, siginfo_t* told, void*) {
  calls = calls + 1;
  last_told = *told;
}

void handle_by_count() {
  struct sigaction own{};
  own.sa_sigaction = count_call;
  own.sa_flags = SA_SIGINFO;
  ::sigaction(SIGSEGV, &own, nullptr);
}

TEST_CASE("a handler that the program had gets each SIGSEGV that was sent once, as it was sent") {
  const contract::ending how = contract::in_child([] {
    handle_by_count();
    os::watch_faults(see_fault);
    for (int turn = 0; turn < 2; ++turn) {
      calls = 0;
      by_queue();
      exit_unless(calls == 1, 1);
      exit_unless(last_told.si_code == SI_QUEUE && last_told.si_value.sival_int == 42, 2);
      by_kill();
      exit_unless(calls == 2, 3);
      exit_unless(last_told.si_code == SI_USER && last_told.si_pid == ::getpid(), 4);
      by_raise();
      exit_unless(calls == 3 && last_told.si_code == SI_TKILL, 5);
      by_another_process();
      exit_unless(calls == 4 && last_told.si_pid != ::getpid(), 6);
    }
  });
  CHECK(how.signal == 0);
  CHECK(how.exit_code == 0);
}

TEST_CASE("a SIGSEGV that was sent while it is blocked comes once it is not") {
  const contract::ending how = contract::in_child([] {
    handle_by_count();
    os::watch_faults(see_fault);
    sigset_t blocked;
    ::sigemptyset(&blocked);
    ::sigaddset(&blocked, SIGSEGV);
    ::sigprocmask(SIG_BLOCK, &blocked, nullptr);
    by_queue();
    exit_unless(calls == 0, 1);
    ::sigprocmask(SIG_UNBLOCK, &blocked, nullptr);
    exit_unless(calls == 1 && last_told.si_code == SI_QUEUE, 2);
  });
  CHECK(how.signal == 0);
  CHECK(how.exit_code == 0);
}

TEST_CASE("a program that ignores SIGSEGV still does") {
  const contract::ending how = contract::in_child([] {
    std::signal(SIGSEGV, SIG_IGN);
    os::watch_faults(see_fault);
    for (const sender send : senders) send();
    std::_Exit(7);
  });
  CHECK(how.exit_code == 7);
}

TEST_CASE("an access that is not allowed calls the action and ends the process") {
  for (const bool blocked : {false, true}) {
    const contract::ending how = contract::in_child([&] {
      os::watch_faults([](const void*) { ::write(STDERR_FILENO, "seen", 4); });
      sigset_t all;
      ::sigfillset(&all);
      if (blocked) ::sigprocmask(SIG_BLOCK, &all, nullptr);
      void* const page = os::reserve(os::page_bytes(), os::page_bytes());
      *static_cast<volatile std::byte*>(page) = std::byte{1};
    });
    CHECK(how.signal == SIGSEGV);
    // The system does not call a handler of a signal that is blocked.
    CHECK(how.error == (blocked ? "" : "seen"));
  }
}

} // namespace
