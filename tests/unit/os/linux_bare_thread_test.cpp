#include <sched.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include <unistd.h>

#include <doctest/doctest.h>

#include "contract/child.hpp"
#include "os/mutex.hpp"
#include "os/os.hpp"

// With these runtimes the C library starts the thread: they have to know of it.
extern "C" [[gnu::weak]] void __tsan_init();
extern "C" [[gnu::weak]] void __asan_init();

namespace {

namespace os = heapwise::os;

bool by_the_c_library() { return __tsan_init != nullptr || __asan_init != nullptr; }

std::atomic<std::uint32_t> running{0};
std::atomic<std::uint32_t> may_end{0};
thread_local int a_variable = 7;

#define EXPECT(condition) \
  if (!(condition)) std::_Exit(__LINE__ % 256)

void wait_for_leave() {
  a_variable = 0;
  errno = 5;
  running.fetch_add(1);
  while (may_end.load() == 0) os::wait(may_end, 0, 0);
  if (errno == 5 && a_variable == 0) running.fetch_sub(1);
}

bool start() { return os::start_bare_thread(wait_for_leave, &a_variable); }

/// Effects: lets all threads end. Returns: when they did.
void end_all() {
  may_end = 1;
  os::wake_all(may_end);
  while (running.load() != 0 || os::has_bare_thread()) {
    std::this_thread::yield();
  }
  may_end = 0;
}

std::string other_task() {
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/task"}) {
    const std::string id = each.path().filename();
    if (id != std::to_string(::getpid())) return id;
  }
  return {};
}

std::ptrdiff_t task_count() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return std::distance(begin(tasks), end(tasks));
}

std::string line_of_status(const std::string& task, const std::string& name) {
  std::ifstream status{"/proc/self/task/" + task + "/status"};
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return {};
}

TEST_CASE("a bare thread has errno and variables of its own, and its place is used again") {
  const contract::ending how = contract::in_child([] {
    for (int turn = 0; turn < 20; ++turn) {
      errno = 42;
      EXPECT(start());
      while (running.load() != 1) std::this_thread::yield();
      EXPECT(errno == 42 && a_variable == 7);
      EXPECT(by_the_c_library() || os::has_bare_thread());
      end_all();
    }
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("two bare threads at most, and a refusal is not for ever") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    EXPECT(start());
    EXPECT(start());
    EXPECT(!start());
    while (running.load() != 2) std::this_thread::yield();
    end_all();
    EXPECT(start());
    while (running.load() != 1) std::this_thread::yield();
    end_all();
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("the wait for bare threads is also for one whose stack is free, as long as it counts") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    const std::ptrdiff_t before = task_count();
    for (int turn = 0; turn < 200; ++turn) {
      EXPECT(start());
      while (running.load() != 1) std::this_thread::yield();
      may_end = 1;
      os::wake_all(may_end);
      while (os::has_bare_thread()) {
      }
      may_end = 0;
      EXPECT(os::await_bare_threads(1000));
      EXPECT(task_count() == before);
    }
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a bare thread that did not end in time is waited for again") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    EXPECT(start());
    while (running.load() != 1) std::this_thread::yield();
    EXPECT(!os::await_bare_threads(2));
    EXPECT(!os::await_bare_threads(2));
    end_all();
    EXPECT(os::await_bare_threads(1000));
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a forked child has no bare thread and may start one") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    EXPECT(start());
    EXPECT(start());
    while (running.load() != 2) std::this_thread::yield();
    const contract::ending child = contract::in_child([] {
      os::forget_bare_threads();
      running = 0;
      EXPECT(!os::has_bare_thread());
      EXPECT(start());
      while (running.load() != 1) std::this_thread::yield();
      end_all();
    });
    std::_Exit(child.exit_code);
  });
  CHECK(how.exit_code == 0);
}

// What the threads below do, and how often.
std::atomic<std::uint32_t> bell{0};
std::atomic<std::uint32_t> steps{0};
std::atomic<bool> halfway{false};
os::mutex outer;
os::mutex inner;

void step_between_rests() {
  while (may_end.load() == 0) {
    os::rest(bell, bell.load(), 1);
    halfway = true;
    for (int i = 0; i < 1000; ++i) steps.fetch_add(1);
    halfway = false;
  }
}

void step_for_ever() {
  os::rest(bell, bell.load(), 1);
  while (may_end.load() == 0) {
    halfway = true;
    for (int i = 0; i < 1000; ++i) steps.fetch_add(1);
    halfway = false;
    os::let_fork();
  }
}

void take_both_locks() {
  os::rest(bell, bell.load(), 1);
  outer.lock();
  running = 1;
  inner.lock();
  steps = 1;
  inner.unlock();
  outer.unlock();
  while (may_end.load() == 0) os::wait(may_end, 0, 0);
}

void check_pauses(void (*body)()) {
  EXPECT(os::start_bare_thread(body, &a_variable));
  for (int turn = 0; turn < 200; ++turn) {
    const std::uint32_t seen = steps;
    while (steps == seen) std::this_thread::yield();
    os::pause_bare_threads();
    os::pause_bare_threads(); // as by a handler that forks while its thread forks
    EXPECT(!halfway);
    const std::uint32_t before = steps;
    os::end_pause();
    ::usleep(2000);
    EXPECT(steps == before);
    os::end_pause();
  }
  may_end = 1;
  while (os::has_bare_thread()) std::this_thread::yield();
}

TEST_CASE("a pause finds a bare thread at rest and keeps it there") {
  if (by_the_c_library()) return;
  CHECK(contract::in_child([] { check_pauses(step_between_rests); }).exit_code == 0);
}

TEST_CASE("a bare thread that works lets a fork be done where it says so") {
  if (by_the_c_library()) return;
  CHECK(contract::in_child([] { check_pauses(step_for_ever); }).exit_code == 0);
}

TEST_CASE(
    "a pause does not wait for a bare thread that waits for the caller, and the child has it too") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    inner.lock();
    EXPECT(os::start_bare_thread(take_both_locks, &a_variable));
    while (running.load() != 1) std::this_thread::yield();
    os::pause_bare_threads();
    const contract::ending child = contract::in_child([] {
      os::end_pause();
      EXPECT(os::resume_bare_thread());
      EXPECT(steps == 0 && outer.is_locked());
      inner.unlock();
      outer.lock(); // that it held
      EXPECT(steps == 1);
      may_end = 1;
      os::wake_all(may_end);
      while (os::has_bare_thread()) std::this_thread::yield();
    });
    EXPECT(child.exit_code == 0);
    os::end_pause();
    EXPECT(steps == 0);
    inner.unlock();
    outer.lock();
    EXPECT(steps == 1);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a pause wakes a bare thread whose lock was unlocked by a call that was interrupted") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    inner.lock();
    EXPECT(os::start_bare_thread(take_both_locks, &a_variable));
    while (running.load() != 1) std::this_thread::yield();
    ::usleep(20'000); // it sleeps
    // What unlock() does before it wakes anybody.
    static_assert(sizeof inner == sizeof(std::uint32_t));
    std::memset(static_cast<void*>(&inner), 0, sizeof inner);
    ::alarm(60);
    // The thread takes the lock and goes on, up to the end of its work or to the next place where
    // it lets a fork be done: here, to its end.
    may_end = 1;
    os::pause_bare_threads();
    EXPECT(steps == 1);
    os::end_pause();
  });
  CHECK(how.exit_code == 0);
}

/// Effects: the calling thread may run on the last of the processors that it may use now, and alone
/// there if it is allowed to.
void pin_and_hurry() {
  cpu_set_t allowed;
  EXPECT(::sched_getaffinity(0, sizeof allowed, &allowed) == 0);
  int last = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<unsigned>(last), &allowed)) --last;
  CPU_ZERO(&allowed);
  CPU_SET(static_cast<unsigned>(last), &allowed);
  EXPECT(::sched_setaffinity(0, sizeof allowed, &allowed) == 0);
  const sched_param urgent{.sched_priority = 1};
  ::sched_setscheduler(0, SCHED_FIFO, &urgent); // may be refused
}

/// Effects: ends the process unless the bare thread runs as the first thread may, normally.
void expect_processors_of_the_first_thread(int number) {
  cpu_set_t its;
  cpu_set_t wanted;
  EXPECT(::sched_getaffinity(number, sizeof its, &its) == 0);
  EXPECT(::sched_getaffinity(::getpid(), sizeof wanted, &wanted) == 0);
  EXPECT(CPU_EQUAL(&its, &wanted));
  EXPECT(::sched_getscheduler(number) == SCHED_OTHER);
}

TEST_CASE("it inherits neither priority nor processors, blocks signals and says what it is") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    std::thread starter{[] {
      pin_and_hurry();
      EXPECT(start());
    }};
    starter.join();
    while (running.load() != 1) ::sched_yield();
    const std::string task = other_task();
    expect_processors_of_the_first_thread(std::stoi(task));
    EXPECT(line_of_status(task, "Name") == "heapwise-purge");
    EXPECT(line_of_status(task, "SigBlk") == "fffffffffffbfeff"); // but SIGKILL and SIGSTOP
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("it inherits neither priority nor processors that the first thread no longer has") {
  if (by_the_c_library()) return;
  const contract::ending how = contract::in_child([] {
    os::remember_processors();
    pin_and_hurry();
    EXPECT(start());
    while (running.load() != 1) ::sched_yield();
    expect_processors_of_the_first_thread(std::stoi(other_task()));
  });
  CHECK(how.exit_code == 0);
}

} // namespace
