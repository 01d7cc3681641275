#include "os/copies.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "os/errno_keeper.hpp"

// Another thread may be inside of the runtime of a sanitizer, whose locks would be held in the copy
// for ever.
#if defined(__SANITIZE_THREAD__)
#define HEAPWISE_PROCESS_COPIES 0
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define HEAPWISE_PROCESS_COPIES 0
#endif
#endif
#ifndef HEAPWISE_PROCESS_COPIES
#define HEAPWISE_PROCESS_COPIES 1
#endif

namespace heapwise::os {

namespace {

constexpr std::uint64_t all_signals = ~std::uint64_t{0};

/// The mask as the kernel has it: `sigset_t` leaves out the signals of the C library.
std::uint64_t set_signals(std::uint64_t mask) noexcept {
  std::uint64_t before = 0;
  ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

[[noreturn]] void end(int status) noexcept {
  for (;;) ::syscall(SYS_exit_group, status);
}

constinit pid_t the_process = 0; // of a copy: the process that made it

/// In a copy: ends it if the process is gone. A thread of the process has ended, or all have.
void look_for_the_process(int /*signal*/) noexcept {
  if (::syscall(SYS_getppid) != the_process) end(1);
}

/// Effects: the copy has no open files, without closing those of the process. When memory is short,
/// the system ends the copy rather than the program. Both if the system is able to.
void give_way() noexcept {
#if defined(SYS_close_range)
  constexpr unsigned unshare = 1U << 1; // CLOSE_RANGE_UNSHARE, which no header of 2020 has
  if (::syscall(SYS_close_range, 0U, ~0U, unshare) != 0) return;
  const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (file < 0) return;
  constexpr std::string_view first_of_all = "1000";
  // Without success, the system chooses.
  if (::write(file, first_of_all.data(), first_of_all.size()) < 0) return;
#endif
}

/// Effects: the copy ends when the process has ended, which would else keep its open files and its
/// locks of files as long.
void end_with_the_process() noexcept {
  constexpr int told_by = SIGTERM; // sent by somebody else, it does nothing
  struct sigaction action{};
  action.sa_handler = look_for_the_process;
  ::sigaction(told_by, &action, nullptr); // of the copy alone
  ::prctl(PR_SET_PDEATHSIG, told_by);     // at the end of the thread that made it, and of others
  set_signals(all_signals & ~(std::uint64_t{1} << (told_by - 1)));
  look_for_the_process(told_by);
}

} // namespace

copy_number copy_process() noexcept {
  if (!HEAPWISE_PROCESS_COPIES) return no_copy;
  const errno_keeper keep;
  // Before the copy is there: it inherits the mask, and runs no handler of the program.
  const std::uint64_t signals = set_signals(all_signals);
  the_process = ::getpid();
  // No signal at its end: `wait` without __WCLONE passes it over. Open files are shared and not
  // inherited: a reader of a pipe would else wait for the end of the copy, too.
  const long number = ::syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
  if (number == 0) {
    ::syscall(SYS_sched_yield); // the threads of the process stand still: they go first
    ::prctl(PR_SET_NAME, "heapwise-mark");
    give_way();
    ::prctl(PR_SET_DUMPABLE, 0); // its files in /proc may not be written any more
    end_with_the_process();
    return this_is_the_copy;
  }
  set_signals(signals);
  return number < 0 ? no_copy : static_cast<copy_number>(number);
}

void end_copy() noexcept { end(0); }

void wait_for_copy(copy_number copy) noexcept {
  const errno_keeper keep;
  siginfo_t how{};
  while (::waitid(P_PID, static_cast<id_t>(copy), &how, WEXITED | static_cast<int>(__WCLONE)) !=
             0 &&
         errno == EINTR) {
  }
}

bool copy_has_ended(copy_number copy) noexcept {
  const errno_keeper keep;
  siginfo_t how{};
  const int options = WEXITED | WNOHANG | static_cast<int>(__WCLONE);
  const int status = ::waitid(P_PID, static_cast<id_t>(copy), &how, options);
  return status == 0 ? how.si_pid != 0 : errno != EINTR;
}

bool copy_ends_soon(copy_number copy) noexcept {
  const errno_keeper keep;
  constexpr timespec rest{.tv_sec = 0, .tv_nsec = 100'000};
  ::clock_nanosleep(CLOCK_MONOTONIC, 0, &rest, nullptr);
  return copy_has_ended(copy);
}

void kill_copy(copy_number copy) noexcept {
  {
    const errno_keeper keep;
    ::kill(copy, SIGKILL);
  }
  wait_for_copy(copy);
}

void leave_out_of_copies(void* memory, std::size_t size_bytes, bool yes) noexcept {
  const errno_keeper keep;
  ::madvise(memory, size_bytes, yes ? MADV_DONTFORK : MADV_DOFORK);
}

void* map_shared(std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  void* const memory = ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE,
                              MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

} // namespace heapwise::os
