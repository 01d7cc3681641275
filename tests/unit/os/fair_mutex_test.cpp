#include <atomic>
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

/// A thread that locks a mutex again and again, and counts how often.
class rival {
 public:
  /// Requires: the caller holds the mutex, and unlocks it before the rival is destroyed.
  explicit rival(os::fair_mutex& mutex)
      : mutex_{mutex}, thread_{[this] { lock_again_and_again(); }} {}
  ~rival() { thread_.join(); }
  rival(const rival&) = delete;
  rival& operator=(const rival&) = delete;

  void stop() { stopped_ = true; }
  int count() const { return count_; }

  /// Effects: returns when the system has put the thread to sleep: it waits for the mutex.
  void wait_until_it_waits() const {
    while (!sleeps()) std::this_thread::yield();
  }

 private:
  void lock_again_and_again() {
    number_ = ::syscall(SYS_gettid);
    do {
      const std::lock_guard hold{mutex_};
      ++count_;
    } while (!stopped_);
  }

  bool sleeps() const {
    if (number_ == 0) return false;
    std::ifstream file{"/proc/self/task/" + std::to_string(number_) + "/stat"};
    std::string line;
    std::getline(file, line);
    return line.find(") S ") != std::string::npos;
  }

  os::fair_mutex& mutex_;
  std::atomic<int> count_{0};
  std::atomic<bool> stopped_{false};
  std::atomic<long> number_{0}; // of the thread; 0 before it runs
  std::thread thread_;
};

} // namespace

TEST_CASE("a thread that unlocks and locks again comes after the thread that waits") {
  os::fair_mutex mutex;
  mutex.lock();
  rival other{mutex};
  for (int round = 0; round < 200; ++round) {
    const int before = other.count();
    other.wait_until_it_waits();
    mutex.unlock();
    mutex.lock();
    CHECK(other.count() > before);
  }
  other.stop();
  mutex.unlock();
}

TEST_CASE("a child of fork can lock the mutex although another thread of the parent waited") {
  os::fair_mutex mutex;
  mutex.lock();
  rival other{mutex};
  other.wait_until_it_waits();
  const auto ended = contract::in_child([&] {
    ::alarm(60); // ends a child that waits for ever
    mutex.unlock_in_child();
    for (int each = 0; each < 3; ++each) {
      const std::lock_guard hold{mutex};
    }
  });
  other.stop();
  mutex.unlock();
  CHECK(ended.exit_code == 0);
}
