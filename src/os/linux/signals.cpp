#include <csignal>
#include <ctime>

#include "os/linux/errno_keeper.hpp"
#include "os/linux/system_call.hpp"
#include "os/signals.hpp"

namespace heapwise::os {

namespace {

void (*signal_action)() = nullptr;

void handle_request(int) {
  const errno_keeper keep;
  signal_action();
}

} // namespace

void answer_signal(unsigned signal, void (*action)()) noexcept {
  const errno_keeper keep;
  signal_action = action;
  struct sigaction ours{};
  ours.sa_handler = handle_request;
  ours.sa_flags = SA_RESTART | SA_ONSTACK; // threads of Go have a stack for handlers
  ::sigfillset(&ours.sa_mask);
  ::sigaction(static_cast<int>(signal), &ours, nullptr);
}

unsigned process_number() noexcept {
  return static_cast<unsigned>(system_call(SYS_getpid).value());
}

unsigned long long nanoseconds_of_day() noexcept {
  constexpr unsigned long long in_a_second = 1'000'000'000;
  timespec now{};
  system_call(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return static_cast<unsigned long long>(now.tv_sec) * in_a_second +
         static_cast<unsigned long long>(now.tv_nsec);
}

} // namespace heapwise::os
