#include <atomic>
#include <cstddef>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <sys/syscall.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "os/fair_mutex.hpp"

namespace {

namespace os = heapwise::os;

/// Returns: whether the system has put the thread to sleep.
bool sleeps(long thread) {
  std::ifstream status{"/proc/self/task/" + std::to_string(thread) + "/stat"};
  std::string line;
  std::getline(status, line);
  return line.find(") S ") != std::string::npos;
}

/// Effects: takes the lock again and again until `enough`, and counts in it. `thread` names the
/// thread as soon as it runs.
void count_inside(os::fair_mutex& lock, std::atomic<int>& counted, const std::atomic<bool>& enough,
                  std::atomic<long>& thread) {
  thread = ::syscall(SYS_gettid);
  do {
    const std::lock_guard hold{lock};
    ++counted;
  } while (!enough);
}

} // namespace

TEST_CASE("a holder that comes back at once is behind those who wait") {
  os::fair_mutex lock;
  std::atomic<int> counted{0};
  std::atomic<bool> enough{false};
  std::atomic<long> other{0};
  lock.lock();
  std::thread waits{[&] { count_inside(lock, counted, enough, other); }};
  for (int round = 0; round < 200; ++round) {
    const int before = counted;
    while (other == 0 || !sleeps(other)) std::this_thread::yield();
    lock.unlock();
    lock.lock();
    CHECK(counted > before);
  }
  enough = true;
  lock.unlock();
  waits.join();
}

TEST_CASE("one thread at a time is inside") {
  os::fair_mutex lock;
  int plain = 0; // a race detector watches it
  const auto add = [&] {
    for (int each = 0; each < 2000; ++each) {
      const std::lock_guard hold{lock};
      ++plain;
    }
  };
  std::thread first{add};
  std::thread second{add};
  add();
  first.join();
  second.join();
  CHECK(plain == 6000);
}

TEST_CASE("a child of fork has the lock to itself, whoever waited in the parent") {
  os::fair_mutex lock;
  std::atomic<int> counted{0};
  std::atomic<bool> enough{false};
  std::atomic<long> other{0};
  lock.lock();
  std::thread waits{[&] { count_inside(lock, counted, enough, other); }};
  while (other == 0 || !sleeps(other)) std::this_thread::yield();
  const auto ended = contract::in_child([&] {
    ::alarm(10); // ends a child that waits for ever
    lock.unlock_in_child();
    for (int each = 0; each < 3; ++each) {
      const std::lock_guard hold{lock};
    }
  });
  enough = true;
  lock.unlock();
  waits.join();
  CHECK(ended.exit_code == 0);
}
