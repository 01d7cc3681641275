#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <fcntl.h>
#include <linux/futex.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "heapwise/detail/config.hpp"
#include "os/linux/errno_keeper.hpp"
#include "os/linux/system_call.hpp"
#include "os/os.hpp"
#include "os/reports/faults.hpp"

namespace heapwise::os {

namespace {

/// Returns: whether the word can be read. Filters of system calls allow this call, and not those
/// that read memory as a debugger does.
bool is_readable(std::uintptr_t word) noexcept {
  constexpr timespec at_once{};
  const int error = system_call(SYS_futex, word, FUTEX_WAIT_PRIVATE, 0, &at_once).error();
  return error == EAGAIN || error == ETIMEDOUT; // it is not 0, or it is
}

/// Returns: whether the frame could be read. Requires: it lies in the caller's stack, or behind.
HEAPWISE_READS_ANYTHING bool read_frame(std::uintptr_t address, frame& into) noexcept {
  constexpr std::size_t last_word = sizeof into - sizeof(std::uint32_t);
  if (!is_readable(address) || !is_readable(address + last_word)) return false;
  into = *reinterpret_cast<const frame*>(address);
  return true;
}

// <sys/mman.h> of the C library may be older than the kernel.
constexpr int install_marks = 102; // MADV_GUARD_INSTALL
constexpr int remove_marks = 103;  // MADV_GUARD_REMOVE

constinit bool has_marks = false;
constinit bool protects = true;

bool unmark(void* memory, std::size_t size_bytes) noexcept {
  return system_call(SYS_madvise, memory, size_bytes, remove_marks).succeeded();
}

bool mark(void* memory, std::size_t size_bytes) noexcept {
  if (system_call(SYS_madvise, memory, size_bytes, install_marks).succeeded()) return true;
  // Pages that are locked in memory take no marks. Those before them have theirs already.
  unmark(memory, size_bytes);
  return false;
}

/// Returns: whether the page has a mark. An emulator (qemu's user mode) may say yes to all advice.
bool is_marked(void* page) noexcept {
  constexpr int read_now = 22; // MADV_POPULATE_READ
  return !system_call(SYS_madvise, page, page_bytes(), read_now).succeeded();
}

bool has_data_limit() noexcept {
  constexpr long this_process = 0;
  rlimit limit{};
  return system_call(SYS_prlimit64, this_process, RLIMIT_DATA, nullptr, &limit).succeeded() &&
         limit.rlim_cur != RLIM_INFINITY;
}

void (*fault_action)(const void*) = nullptr;
struct sigaction before_ours;

/// Returns: whether the signal comes again by itself once its handler has returned: the access that
/// it tells of is repeated. Nothing repeats what a process sent (a code of 0 or less), nor an
/// access by a wrong tag of which the processor told late.
bool comes_again(const siginfo_t& told) noexcept {
  constexpr int told_late = 8; // SEGV_MTEAERR
  return told.si_code > 0 && told.si_code != told_late;
}

/// Effects: the calling thread gets the signal once more, as it was sent, when no handler of it
/// runs any longer.
void send_again(int signal, siginfo_t& told) noexcept {
  const long process = ::syscall(SYS_getpid);
  const long thread = ::syscall(SYS_gettid);
  if (::syscall(SYS_rt_tgsigqueueinfo, process, thread, signal, &told) != 0) {
    ::syscall(SYS_tgkill, process, thread, signal);
  }
}

void handle_fault(int signal, siginfo_t* told, void*) {
  const errno_keeper keep;
  if (comes_again(*told)) fault_action(told->si_addr);
  ::sigaction(SIGSEGV, &before_ours, nullptr);
  if (!comes_again(*told)) send_again(signal, *told);
}

} // namespace

stack_trace trace_stack(address_range changing) noexcept {
  constexpr std::uintptr_t most_of_a_frame = std::uintptr_t{1} << 20;
  stack_trace trace;
  auto at = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
  frame read{};
  while (trace.count < stack_trace::most && at % alignof(frame) == 0 && read_frame(at, read)) {
    if (read.returns_to == nullptr) break;
    trace.frames[trace.count++] = read.returns_to;
    const auto caller = reinterpret_cast<std::uintptr_t>(read.caller);
    if (caller <= at || caller - at > most_of_a_frame) break;
    if (changing.holds(read.caller)) break;
    at = caller;
  }
  return trace;
}

std::uint64_t thread_number() noexcept {
  return static_cast<std::uint64_t>(system_call(SYS_gettid).value());
}

void watch_faults(void (*action)(const void* address)) noexcept {
  static constinit std::atomic<bool> watched{false};
  // Relaxed: one thread installs the handler; the system orders what it reads.
  if (watched.load(std::memory_order_relaxed) ||
      watched.exchange(true, std::memory_order_relaxed)) {
    return;
  }
  const errno_keeper keep;
  fault_action = action;
  ::sigaction(SIGSEGV, nullptr, &before_ours);
  if (before_ours.sa_handler == SIG_IGN) return;
  struct sigaction ours{};
  ours.sa_sigaction = handle_fault;
  // A signal that was sent interrupts a call as it would have done without this handler.
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | (before_ours.sa_flags & SA_RESTART);
  ::sigemptyset(&ours.sa_mask);
  ::sigaction(SIGSEGV, &ours, nullptr);
}

void prepare_hiding() noexcept {
  protects = !has_data_limit();
  void* const page = map(page_bytes(), page_bytes());
  if (page == nullptr) return;
  has_marks = mark(page, page_bytes()) && is_marked(page);
  unmap(page, page_bytes());
}

hidden_by hide(void* memory, std::size_t size_bytes) noexcept {
  if (has_marks && mark(memory, size_bytes)) return hidden_by::mark;
  return hide_by_protection(memory, size_bytes);
}

hidden_by hide_by_protection(void* memory, std::size_t size_bytes) noexcept {
  purge(memory, size_bytes);
  if (!protects) return hidden_by::nothing;
  if (system_call(SYS_mprotect, memory, size_bytes, PROT_NONE).succeeded()) {
    return hidden_by::protection;
  }
  // Of several mappings the first ones may be hidden now.
  return commit(memory, size_bytes) ? hidden_by::nothing : hidden_by::protection;
}

bool reveal(void* memory, std::size_t size_bytes, hidden_by how) noexcept {
  if (how == hidden_by::mark) return unmark(memory, size_bytes);
  return how == hidden_by::nothing || commit(memory, size_bytes);
}

sealing seal(void* memory, std::size_t size_bytes) noexcept {
  const bool is_whole = (reinterpret_cast<std::uintptr_t>(memory) | size_bytes) % page_bytes() == 0;
  if (!is_whole) return sealing::no_room;
  const system_answer sealed = system_call(SYS_mprotect, memory, size_bytes, PROT_READ);
  if (sealed.succeeded()) return sealing::done;
  return sealed.error() == ENOMEM ? sealing::no_room : sealing::refused;
}

appended_file::appended_file(const char* path, start from) noexcept {
  constexpr long owner_only = 0600;
  constexpr int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW;
  const int emptied = from == start::empty ? O_TRUNC : 0;
  const system_answer opened = system_call(SYS_openat, AT_FDCWD, path, flags | emptied, owner_only);
  descriptor_ = opened.succeeded() ? static_cast<int>(opened.value()) : -opened.error();
}

appended_file::~appended_file() {
  if (descriptor_ >= 0) system_call(SYS_close, descriptor_);
}

int appended_file::write(const char* text, std::size_t length) const noexcept {
  if (descriptor_ < 0) return error();
  while (length > 0) {
    const system_answer written = system_call(SYS_write, descriptor_, text, length);
    if (written.error() == EINTR) continue;
    if (!written.succeeded()) return written.error();
    if (written.value() == 0) return EIO;
    text += written.value();
    length -= static_cast<std::size_t>(written.value());
  }
  return 0;
}

int rename_file(const char* from, const char* to) noexcept {
  return system_call(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0).error();
}

} // namespace heapwise::os
