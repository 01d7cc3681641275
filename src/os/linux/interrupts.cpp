#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include <pthread.h>
#include "os/collector/world.hpp"
#include "os/expects.hpp"
#include "os/linux/system_call.hpp"

namespace heapwise::os {

namespace {

static_assert(default_signal == SIGURG);

int stop_signal = default_signal;
struct sigaction handled_before{};
bool (*when_stopped)(void* lowest) = nullptr;

void stop_here(void* expected, void* lowest) {
  *static_cast<bool*>(expected) = when_stopped(lowest);
}

/// Effects: calls the handler that was there before, with all signals blocked and on the stack in
/// use. A default action is not taken.
void pass_on(int signal, siginfo_t* details, void* context) {
  if ((handled_before.sa_flags & SA_SIGINFO) != 0) {
    handled_before.sa_sigaction(signal, details, context);
  } else if (handled_before.sa_handler != SIG_DFL && handled_before.sa_handler != SIG_IGN) {
    handled_before.sa_handler(signal);
  }
}

// What the thread had in registers was put onto its stack by the system; with a sanitizer, which
// calls handlers later by itself, some may still be in registers.
void handle_stop(int signal, siginfo_t* details, void* context) {
  const int saved = errno;
  bool expected = false;
  with_registers(stop_here, &expected);
  errno = saved;
  if (!expected) pass_on(signal, details, context);
}

} // namespace

bool can_interrupt_with(int signal) noexcept {
  constexpr std::array never = {SIGKILL, SIGSTOP, SIGSEGV, SIGBUS, SIGFPE,
                                SIGILL,  SIGTRAP, SIGABRT, SIGSYS};
  constexpr int first_of_c_library = 32; // between these two, the C library uses them itself
  if (signal < 1 || signal > SIGRTMAX) return false;
  if (signal >= first_of_c_library && signal < SIGRTMIN) return false;
  return std::find(never.begin(), never.end(), signal) == never.end();
}

bool on_interrupt(int signal, bool (*stopped)(void* lowest)) noexcept {
  expects([=] { return can_interrupt_with(signal); }, "the signal may be used");
  const int saved = errno;
  stop_signal = signal;
  when_stopped = stopped;
  struct sigaction action{};
  action.sa_sigaction = handle_stop;
  action.sa_flags = SA_RESTART | SA_SIGINFO;
  // No other handler may run while the world stands still. sigfillset would leave out the signals
  // of the C library: one of them cancels a thread, and then its stack changes during marking.
  std::memset(&action.sa_mask, 0xff, sizeof action.sa_mask);
  // Before the new handler is there, so that it can pass on the first signal.
  const bool done = ::sigaction(signal, nullptr, &handled_before) == 0 &&
                    ::sigaction(signal, &action, nullptr) == 0;
  errno = saved;
  return done;
}

namespace {

// Not pthread_kill: it says nothing of a thread that has ended, and may not be called for one that
// nobody can join any more.
int send(thread_number thread, int signal) {
  return system_call(SYS_tgkill, system_call(SYS_getpid).value(), thread, signal).error();
}

} // namespace

interruption interrupt(thread_number thread) noexcept {
  const int error = send(thread, stop_signal);
  if (error == 0) return interruption::sent;
  return error == ESRCH ? interruption::ended : interruption::delayed;
}

bool is_running(thread_number thread) noexcept { return send(thread, 0) != ESRCH; }

namespace {

constexpr signal_mask bit_of(int signal) noexcept { return signal_mask{1} << (signal - 1); }

// Those that end a process by default, because somebody wants it to end.
constexpr signal_mask deadly = bit_of(SIGHUP) | bit_of(SIGINT) | bit_of(SIGQUIT) | bit_of(SIGTERM) |
                               bit_of(SIGALRM) | bit_of(SIGABRT);
constexpr signal_mask faults = bit_of(SIGSEGV) | bit_of(SIGBUS) | bit_of(SIGFPE) | bit_of(SIGILL) |
                               bit_of(SIGTRAP) | bit_of(SIGSYS);

signal_mask change_mask(int how, signal_mask signals) noexcept {
  signal_mask before = 0;
  system_call(SYS_rt_sigprocmask, how, &signals, &before, sizeof signals);
  return before;
}

} // namespace

signal_mask hold_signals() noexcept { return change_mask(SIG_BLOCK, ~(deadly | faults)); }

signal_mask accept_interrupts() noexcept { return change_mask(SIG_UNBLOCK, bit_of(stop_signal)); }

void restore_signals(signal_mask mask) noexcept { change_mask(SIG_SETMASK, mask); }

} // namespace heapwise::os
