// Two sides that hand things to each other: this thread, and another thread or another process.
#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>
#include <new>
#include <thread>
#include <type_traits>

#include "harness/sample.hpp"
#include "kernel/cpu_list.hpp"

namespace heapwise::bench {

/// An object in memory that a forked child shares.
template <class Type>
class shared_object {
  static_assert(std::is_trivially_destructible_v<Type>);

 public:
  /// Throws std::bad_alloc.
  shared_object() {
    void* memory = mmap(nullptr, sizeof(Type), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc{};
    object_ = ::new (memory) Type{};
  }
  ~shared_object() { munmap(object_, sizeof(Type)); }
  shared_object(const shared_object&) = delete;
  shared_object& operator=(const shared_object&) = delete;

  Type& operator*() const noexcept { return *object_; }
  Type* operator->() const noexcept { return object_; }

 private:
  Type* object_;
};

/// The n-th processor of those that the process may use, counted in a circle.
[[nodiscard]] inline cpu_list nth_cpu(const cpu_list& allowed, int n) noexcept {
  cpu_list one;
  int left = n % (allowed.size() > 0 ? allowed.size() : 1);
  for (unsigned cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (allowed.contains(cpu) && left-- == 0) one.insert(cpu);
  }
  return one;
}

/// The other side: a thread or a process with a `body`, which waits until it is let go.
class other_side {
 public:
  enum class kind { thread, process };

  /// Effects: starts it, and returns when it has arrived. Where there are two processors it runs on
  /// the second and the calling thread on the first: a scheduler that moves them together or apart
  /// from one repeat to the next would decide the figure. `body` returns whether all went well; it
  /// must not throw. A process must be started while there is but one thread.
  template <class Body>
  other_side(kind how, const cpu_list& allowed, Body body) : two_cpus_{allowed.size() > 1} {
    pinned_ = nth_cpu(allowed, 0).apply();
    const cpu_list its_own = nth_cpu(allowed, 1);
    const auto run = [this, its_own, body] {
      meet_->pinned = its_own.apply();
      meet_->arrived.store(true, std::memory_order_release); // with the wait below
      wait_for(meet_->may_go);
      meet_->ok = body();
    };
    if (how == kind::thread) {
      thread_ = std::thread{run};
    } else if ((process_ = fork()) == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      run();
      _exit(0);
    }
    if (process_ < 0) throw std::bad_alloc{};
    wait_for(meet_->arrived);
  }
  ~other_side() { end(); }
  other_side(const other_side&) = delete;
  other_side& operator=(const other_side&) = delete;

  void let_go() noexcept { meet_->may_go.store(true, std::memory_order_release); }

  /// Waits for its end; returns what its body returned, false if it never did.
  bool end() noexcept {
    let_go();
    if (thread_.joinable()) thread_.join();
    if (process_ > 0) {
      int status = 0;
      const bool ended = waitpid(process_, &status, 0) == process_ && status == 0;
      process_ = 0;
      return ended && meet_->ok;
    }
    return meet_->ok;
  }

  /// True if the kernel confirmed a processor for each, or there is only one.
  [[nodiscard]] bool placed() const noexcept { return !two_cpus_ || (pinned_ && meet_->pinned); }

 private:
  struct meeting {
    std::atomic<bool> arrived{false};
    std::atomic<bool> may_go{false};
    bool pinned = false; ///< written before `arrived`
    bool ok = false;     ///< written before the end of the thread or process
  };

  static void wait_for(const std::atomic<bool>& flag) noexcept {
    while (!flag.load(std::memory_order_acquire)) sched_yield(); // with the store-releases above
  }

  shared_object<meeting> meet_;
  bool two_cpus_;
  bool pinned_ = false;
  std::thread thread_;
  pid_t process_ = 0;
};

} // namespace heapwise::bench
