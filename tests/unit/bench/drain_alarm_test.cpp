// The waits are of an hour: if one is not ended, the limit of the test's time is.
#include "trace/drain_alarm.hpp"

#include <doctest/doctest.h>
#include <pthread.h>
#include <signal.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "drain/processes/wake.hpp"

using namespace heapwise::bench;

namespace {

constexpr long hour_ns = 3'600'000'000'000;

/// Does something again and again in another thread while it lives.
template <class Action>
class repeated {
 public:
  explicit repeated(Action action)
      : thread_{[this, action] {
          while (!is_over_) {
            action();
            std::this_thread::yield();
          }
        }} {}
  ~repeated() {
    is_over_ = true;
    thread_.join();
  }
  repeated(const repeated&) = delete;
  repeated& operator=(const repeated&) = delete;

 private:
  std::atomic<bool> is_over_{false};
  std::thread thread_;
};

} // namespace

TEST_CASE("another thread ends a wait") {
  drain_alarm alarm;
  const repeated calls{[&] { alarm.call(); }};
  for (int i = 0; i < 100; ++i) alarm.wait(alarm.calls(), hour_ns);
  CHECK(!alarm.waits());
}

TEST_CASE("a call that was counted before a wait ends it") {
  drain_alarm alarm;
  const std::uint32_t calls = alarm.calls();
  alarm.count_call();
  alarm.wait(calls, hour_ns);
  CHECK(alarm.calls() == calls + 1);
}

TEST_CASE("a call of a thread that cannot go on ends a wait that is about to begin") {
  drain_alarm alarm;
  const std::uint32_t calls = alarm.calls();
  alarm.call_surely();
  alarm.wait(calls, hour_ns);
  CHECK(alarm.calls() == calls + 1);
}

TEST_CASE("a call of a thread that cannot go on ends a wait") {
  drain_alarm alarm;
  const repeated calls{[&] { alarm.call_surely(); }};
  for (int i = 0; i < 100; ++i) alarm.wait(alarm.calls(), hour_ns);
  CHECK(!alarm.waits());
}

TEST_CASE("a handler of a signal ends a wait") {
  drain_alarm alarm;
  wake_by_signals(alarm);
  struct sigaction handler{};
  struct sigaction before{};
  handler.sa_handler = [](int) { call_drain(); };
  handler.sa_flags = SA_RESTART;
  sigaction(SIGUSR1, &handler, &before);
  {
    const pthread_t waiting = pthread_self();
    const repeated signals{[&] { pthread_kill(waiting, SIGUSR1); }};
    for (int i = 0; i < 100; ++i) alarm.wait(alarm.calls(), hour_ns);
  }
  sigaction(SIGUSR1, &before, nullptr);
  alarm_of_signals = nullptr;
  CHECK(alarm.calls() >= 100);
}

TEST_CASE("nobody is called if the drain does not wait") {
  drain_alarm alarm;
  const std::uint32_t calls = alarm.calls();
  alarm.call();
  CHECK(alarm.calls() == calls);
}

TEST_CASE("errno stays as it is") {
  drain_alarm alarm;
  errno = E2BIG;
  alarm.wait(alarm.calls() + 1, hour_ns); // ends at once, with an error
  CHECK(errno == E2BIG);
}
