#include "os/collector/copies.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <string_view>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "os/linux/page_calls.hpp"
#include "os/linux/system_call.hpp"

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
  system_call(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

[[noreturn]] void end(int status) noexcept {
  for (;;) system_call(SYS_exit_group, status);
}

constinit pid_t the_process = 0; // of a copy: the process that made it

/// In a copy: ends it if the process is gone. A thread of the process has ended, or all have.
void look_for_the_process(int /*signal*/) noexcept {
  if (system_call(SYS_getppid).value() != the_process) end(1);
}

/// Effects: the copy has no open files, without closing those of the process. When memory is short,
/// the system ends the copy rather than the program. Both if the system is able to.
void give_way() noexcept {
#if defined(SYS_close_range)
  constexpr unsigned unshare = 1U << 1; // CLOSE_RANGE_UNSHARE, which no header of 2020 has
  if (!system_call(SYS_close_range, 0, ~0U, unshare).succeeded()) return;
  const system_answer file =
      system_call(SYS_openat, AT_FDCWD, "/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
  if (!file.succeeded()) return;
  constexpr std::string_view first_of_all = "1000";
  // Without success, the system chooses.
  system_call(SYS_write, file.value(), first_of_all.data(), first_of_all.size());
#endif
}

// The C library's function may be intercepted, and a thread that the copy does not have may hold a
// lock there.
#if defined(__x86_64__) || defined(__aarch64__)

/// As the system has it.
struct signal_action {
  void (*handler)(int);
  unsigned long flags;
  void (*end)();
  std::uint64_t mask;
};

#if defined(__x86_64__)
constexpr unsigned long has_end = 0x04000000; // SA_RESTORER

/// What the system returns to from a handler. Debuggers know it by its instructions.
[[gnu::naked]] void end_of_handler() { asm("mov $15, %rax\n\tsyscall"); }
#else
constexpr unsigned long has_end = 0; // the system brings its own
constexpr void (*end_of_handler)() = nullptr;
#endif

void handle(int signal, void (*handler)(int)) noexcept {
  const signal_action action{handler, has_end, end_of_handler, 0};
  system_call(SYS_rt_sigaction, signal, &action, nullptr, sizeof action.mask);
}

#else

void handle(int signal, void (*handler)(int)) noexcept {
  struct sigaction action{};
  action.sa_handler = handler;
  ::sigaction(signal, &action, nullptr);
}

#endif

/// Effects: the copy ends when the process has ended, which would else keep its open files and its
/// locks of files as long.
void end_with_the_process() noexcept {
  constexpr int told_by = SIGTERM;       // sent by somebody else, it does nothing
  handle(told_by, look_for_the_process); // in the copy alone
  system_call(SYS_prctl, PR_SET_PDEATHSIG,
              told_by); // at the end of the thread that made it, and of others
  set_signals(all_signals & ~(std::uint64_t{1} << (told_by - 1)));
  look_for_the_process(told_by);
}

/// Effects: waits until the copy has ended, or, with WNOHANG, asks whether it has. Returns: its
/// number, 0 if it has not ended, or an error.
system_answer await(copy_number copy, int options) noexcept {
  return system_call(SYS_wait4, copy, nullptr, static_cast<unsigned>(options) | __WCLONE, nullptr);
}

/// The path of the file in which the system describes a process.
class stat_path {
 public:
  const char* of(copy_number process) noexcept {
    constexpr std::string_view end = "/stat";
    constexpr std::string_view begin = "/proc/";
    char* at = text_ + sizeof text_;
    *--at = 0;
    const auto put = [&](std::string_view part) {
      at -= part.size();
      part.copy(at, part.size());
    };
    put(end);
    do *--at = static_cast<char>('0' + process % 10);
    while ((process /= 10) != 0);
    put(begin);
    return at;
  }

 private:
  char text_[32];
};

} // namespace

copy_number copy_process() noexcept {
  if (!HEAPWISE_PROCESS_COPIES) return no_copy;
  // Before the copy is there: it inherits the mask, and runs no handler of the program.
  const std::uint64_t signals = set_signals(all_signals);
  the_process = static_cast<pid_t>(system_call(SYS_getpid).value());
  // No signal at its end: `wait` without __WCLONE passes it over. Open files are shared and not
  // inherited: a reader of a pipe would else wait for the end of the copy, too.
  const system_answer number = system_call(SYS_clone, CLONE_FILES);
  if (number.value() == 0) {
    system_call(SYS_sched_yield); // the threads of the process stand still: they go first
    system_call(SYS_prctl, PR_SET_NAME, "heapwise-mark");
    give_way();
    system_call(SYS_prctl, PR_SET_DUMPABLE, 0); // its files in /proc may not be written any more
    end_with_the_process();
    return this_is_the_copy;
  }
  set_signals(signals);
  return number.succeeded() ? static_cast<copy_number>(number.value()) : no_copy;
}

void end_copy() noexcept { end(0); }

bool copy_has_ended(copy_number copy) noexcept {
  const system_answer ended = await(copy, WNOHANG);
  return ended.succeeded() ? ended.value() != 0 : ended.error() != EINTR;
}

bool copy_ends_soon(copy_number copy) noexcept {
  constexpr timespec rest{.tv_sec = 0, .tv_nsec = 100'000};
  system_call(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &rest, nullptr);
  return copy_has_ended(copy);
}

bool is_stopped(copy_number copy) noexcept {
  stat_path path;
  const system_answer file = system_call(SYS_openat, AT_FDCWD, path.of(copy), O_RDONLY | O_CLOEXEC);
  if (!file.succeeded()) return false;
  char text[64]; // "NUMBER (NAME) STATE ...", and names have 15 bytes at most
  const system_answer got = system_call(SYS_read, file.value(), text, sizeof text);
  system_call(SYS_close, file.value());
  if (!got.succeeded()) return false;
  const std::string_view line{text, static_cast<std::size_t>(got.value())};
  const std::size_t name_end = line.rfind(')');
  if (name_end == std::string_view::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state == 'T' || state == 't'; // by a signal, by a debugger
}

void wait_for_copy(copy_number copy) noexcept {
  constexpr unsigned polls_a_look = 64; // some 10 ms
  for (unsigned polls = 1; !copy_ends_soon(copy); ++polls) {
    if (polls % polls_a_look == 0 && is_stopped(copy)) return kill_copy(copy);
  }
}

void kill_copy(copy_number copy) noexcept {
  system_call(SYS_kill, copy, SIGKILL);
  while (await(copy, 0).error() == EINTR) {
  }
}

void leave_out_of_copies(void* memory, std::size_t size_bytes, bool yes) noexcept {
  expects_whole_pages(memory, size_bytes);
  system_call(SYS_madvise, memory, size_bytes, yes ? MADV_DONTFORK : MADV_DOFORK);
}

void* map_shared(std::size_t size_bytes) noexcept {
  expects_whole_pages(nullptr, size_bytes);
  return map_pages(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE)
      .address();
}

} // namespace heapwise::os
