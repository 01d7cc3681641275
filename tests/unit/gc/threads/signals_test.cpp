// The signal that stops threads: who blocks it, and who else uses it.
#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::status_of_process;

namespace {

void set_mask(int how) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(how, &all, nullptr);
}

/// Effects: calls `body` with the child's standard error in a pipe. Returns: what was written.
template <class Body>
std::string said_by_process(Body body) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const int status = status_of_process([&] {
    ::dup2(ends[1], STDERR_FILENO);
    return body();
  });
  ::close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return status == 0 ? text : "status " + std::to_string(status) + ": " + text;
}

/// Effects: returns when more than `length` bytes were written to standard error, which is a pipe.
void wait_for_more_than(std::size_t length) {
  int held = 0;
  do {
    ::usleep(1000);
  } while (::ioctl(STDERR_FILENO, FIONREAD, &held) == 0 &&
           static_cast<std::size_t>(held) <= length);
}

std::atomic<int> foreign_signals;
void count_signal(int /*signal*/) { ++foreign_signals; }
void count_with_details(int signal, siginfo_t* details, void* context) {
  foreign_signals += details->si_signo == signal && context != nullptr ? 1 : 100;
}

/// The functions of a collector.
struct collector {
  int (*init)();
  int (*register_thread)();
  void (*unregister_thread)();
  void (*collect)();
  void* (*malloc)(std::size_t size);
};

const collector own{[] { return heapwise_gc_init(nullptr); }, heapwise_gc_register_thread,
                    heapwise_gc_unregister_thread, heapwise_gc_collect, heapwise_gc_malloc_any};

template <class Function>
void find(void* library, const char* name, Function*& into) {
  into = reinterpret_cast<Function*>(::dlsym(library, name));
}

collector of_plugin() {
  void* const library = ::dlopen(HEAPWISE_GC_SECOND, RTLD_NOW);
  REQUIRE(library != nullptr);
  collector functions{};
  find(library, "second_init", functions.init);
  find(library, "second_register", functions.register_thread);
  find(library, "second_unregister", functions.unregister_thread);
  find(library, "second_collect", functions.collect);
  find(library, "second_malloc", functions.malloc);
  return functions;
}

/// Returns: a list of this collector, each of whose nodes holds its number.
std::size_t* list_of(const collector& owner, std::size_t length) {
  std::size_t* newest = nullptr;
  for (std::size_t each = 0; each < length; ++each) {
    auto* const next = static_cast<std::size_t*>(owner.malloc(48));
    next[0] = reinterpret_cast<std::size_t>(newest);
    next[1] = each;
    newest = next;
  }
  return newest;
}

bool is_whole(const std::size_t* list, std::size_t length) {
  while (list != nullptr && list[1] + 1 == length) {
    list = reinterpret_cast<const std::size_t*>(list[0]);
    --length;
  }
  return list == nullptr && length == 0;
}

/// Returns: 0 if lists of both stay whole while threads collect with both at the same time.
int collect_with_both(const collector& first, const collector& second) {
  if (first.init() != 0 || second.init() != 0) return 1;
  std::atomic<int> damaged{0};
  const auto work = [&](const collector& collects) {
    first.register_thread();
    second.register_thread();
    constexpr std::size_t length = 1000;
    for (int round = 0; round < 60; ++round) {
      std::size_t* const of_first = list_of(first, length);
      std::size_t* const of_second = list_of(second, length);
      collects.collect();
      damaged += is_whole(of_first, length) && is_whole(of_second, length) ? 0 : 1;
    }
    second.unregister_thread();
    first.unregister_thread();
  };
  std::thread one{work, std::cref(first)};
  std::thread other{work, std::cref(second)};
  one.join();
  other.join();
  return damaged == 0 ? 0 : 2;
}

} // namespace

TEST_CASE("a thread that inherited blocked signals is stopped all the same" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    std::atomic<int> step{0};
    set_mask(SIG_BLOCK);
    std::thread other{[&] {
      heapwise_gc_register_thread();
      step = 1;
      step.notify_one();
      step.wait(1);
    }};
    set_mask(SIG_UNBLOCK);
    step.wait(0);
    heapwise_gc_collect();
    step = 2;
    step.notify_one();
    other.join();
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("a thread that has blocked all signals may end while another collects" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const int status = status_of_process([] {
    heapwise_gc_init(nullptr);
    static std::atomic<int> running;
    static bool explicitly;
    for (const bool each : {false, true}) {
      explicitly = each;
      running = 2;
      const auto body = [] {
        for (int round = 0; round < HEAPWISE_ENDING_THREADS; ++round) {
          std::thread{[] {
            heapwise_gc_register_thread();
            set_mask(SIG_BLOCK);
            if (!explicitly) return;
            heapwise_gc_unregister_thread();
            sigset_t mask;
            ::pthread_sigmask(SIG_BLOCK, nullptr, &mask);
            if (::sigismember(&mask, SIGURG) != 1) ::_exit(3);
          }}.join();
        }
        --running;
      };
      std::thread one{body};
      std::thread other{body};
      while (running > 0) {
        heapwise_gc_collect();
        ::usleep(200); // the collector's lock is not fair: a loop without a pause keeps it
      }
      one.join();
      other.join();
    }
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("a thread that blocks the signal is named, and waited for" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  static std::atomic<int> step{0};
  static std::string id;
  const std::string said = said_by_process([] {
    heapwise_gc_init(nullptr);
    std::thread other{[] {
      heapwise_gc_register_thread();
      set_mask(SIG_BLOCK);
      id = std::to_string(::gettid());
      heapwise::os::write_error(id.data(), id.size());
      step = 1;
      step.notify_one();
      wait_for_more_than(id.size());
      set_mask(SIG_UNBLOCK);
      heapwise_gc_unregister_thread();
    }};
    step.wait(0);
    heapwise_gc_collect();
    other.join();
    return 0;
  });
  const std::string number = said.substr(0, said.find("heapwise"));
  CHECK(said == number + "heapwise: thread " + number +
                    " has not stopped for a second: it blocks signal " + std::to_string(SIGURG) +
                    ", or a later handler took it. The collector goes on waiting. Next: choose "
                    "another signal with HEAPWISE_GC_SIGNAL\n");
}

TEST_CASE("the program's own function gets the warning, nothing is written" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  static std::atomic<int> step{0};
  static std::atomic<bool> warned{false};
  static std::string heard;
  const std::string said = said_by_process([] {
    heapwise_gc_init(nullptr);
    heard.reserve(1000); // the function may not allocate
    heapwise_gc_on_warning(
        [](const char* line, void* argument) {
          static_cast<std::string*>(argument)->append(line);
          warned = true;
        },
        &heard);
    std::thread other{[] {
      heapwise_gc_register_thread();
      set_mask(SIG_BLOCK);
      step = 1;
      step.notify_one();
      while (!warned) ::usleep(1000);
      set_mask(SIG_UNBLOCK);
      heapwise_gc_unregister_thread();
    }};
    step.wait(0);
    heapwise_gc_collect();
    other.join();
    return heard.starts_with("heapwise: thread ") && heard.ends_with("HEAPWISE_GC_SIGNAL\n") ? 0
                                                                                             : 1;
  });
  CHECK(said.empty());
}

TEST_CASE("the signal can be chosen" * doctest::skip(HEAPWISE_SKIP_STOPS)) {
  for (const int signal : {SIGPWR, SIGUSR2, SIGRTMIN + 4}) {
    CAPTURE(signal);
    const int status = status_of_process([=] {
      heapwise_gc_options options{};
      options.signal = signal;
      if (heapwise_gc_init(&options) != 0) return 1;
      struct sigaction of_default{};
      ::sigaction(SIGURG, nullptr, &of_default);
      if (of_default.sa_handler != SIG_DFL) return 2;
      std::atomic<int> step{0};
      std::thread other{[&] {
        heapwise_gc_register_thread();
        step = 1;
        step.notify_one();
        step.wait(1);
      }};
      step.wait(0);
      for (int each = 0; each < 10; ++each) heapwise_gc_collect();
      step = 2;
      step.notify_one();
      other.join();
      return 0;
    });
    CHECK(status == 0);
  }
}

TEST_CASE("a signal that cannot stop threads is refused") {
  for (const int signal : {-1, 65, SIGKILL, SIGSTOP, SIGSEGV, 32, 33}) {
    CAPTURE(signal);
    const int status = status_of_process([=] {
      heapwise_gc_options options{};
      options.signal = signal;
      return heapwise_gc_init(&options) == EINVAL && heapwise_gc_init(nullptr) == 0 ? 0 : 1;
    });
    CHECK(status == 0);
  }
}

TEST_CASE("a handler that was there before gets the signals that others send, and no stops" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  for (const bool with_details : {false, true}) {
    const int status = status_of_process([=] {
      struct sigaction action{};
      if (with_details) {
        action.sa_sigaction = count_with_details;
        action.sa_flags = SA_SIGINFO;
      } else {
        action.sa_handler = count_signal;
      }
      ::sigaction(SIGURG, &action, nullptr);
      heapwise_gc_init(nullptr);
      std::atomic<bool> over{false};
      std::thread other{[&] {
        heapwise_gc_register_thread();
        while (!over) std::this_thread::yield();
        heapwise_gc_unregister_thread();
      }};
      while (gc_test::statistics().threads < 2) std::this_thread::yield();
      for (int each = 0; each < 50; ++each) heapwise_gc_collect();
      if (foreign_signals != 0) return 1;
      ::raise(SIGURG);
      over = true;
      other.join();
      return foreign_signals == 1 ? 0 : 2;
    });
    CHECK(status == 0);
  }
}

TEST_CASE("without a handler a signal that others send does nothing") {
  const int status = status_of_process([] {
    heapwise_gc_options options{};
    options.signal = SIGPWR;
    heapwise_gc_init(&options);
    ::raise(SIGPWR);
    return 0;
  });
  CHECK(status == 0);
}

TEST_CASE("two copies of the collector in one process stop threads, whichever came first" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const collector second = of_plugin();
  CHECK(status_of_process([&] { return collect_with_both(own, second); }) == 0);
  CHECK(status_of_process([&] { return collect_with_both(second, own); }) == 0);
}

TEST_CASE("Boehm's collector in the same process, where it is installed" *
          doctest::skip(HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED)) {
  void* const library = ::dlopen("libgc.so.1", RTLD_NOW);
  if (library == nullptr) {
    MESSAGE("not installed");
    return;
  }
  static void (*init)();
  static void (*allow)();
  static int (*base_of_stack)(void**);
  static int (*register_thread)(const void**);
  static int (*unregister_thread)();
  find(library, "GC_init", init);
  find(library, "GC_allow_register_threads", allow);
  find(library, "GC_get_stack_base", base_of_stack);
  find(library, "GC_register_my_thread", register_thread);
  find(library, "GC_unregister_my_thread", unregister_thread);
  collector boehm{};
  boehm.init = [] {
    init();
    allow();
    return 0;
  };
  boehm.register_thread = [] {
    std::array<void*, 2> base{};
    return base_of_stack(base.data()) + register_thread(const_cast<const void**>(base.data()));
  };
  boehm.unregister_thread = [] { unregister_thread(); };
  find(library, "GC_gcollect", boehm.collect);
  find(library, "GC_malloc", boehm.malloc);
  CHECK(status_of_process([&] { return collect_with_both(boehm, own); }) == 0);
  CHECK(status_of_process([&] { return collect_with_both(own, boehm); }) == 0);
}
