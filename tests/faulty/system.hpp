// A system that refuses: the heap's calls of it go through here, by the linker's --wrap, and fail
// as a test has planned. Every test plays in a process of its own, forked before the heap begins.
#pragma once

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>

#include <doctest/doctest.h>

namespace faulty {

/// Which calls of the system fail. Atomic for the thread that the heap may start.
struct fault_plan {
  std::atomic<long> calls{0};
  std::atomic<long> fail_from{0}; // 0: none fails
  std::atomic<bool> for_good{false};
  std::atomic<std::size_t> page_bytes{0}; // 0: the system's own
  std::atomic<long> threads_to_refuse{0};
  std::atomic<bool> refuse_purges{false};
  std::atomic<bool> refuse_unmaps{false};
  std::atomic<bool> refuse_mappings{false}; // as if the process had as many as it may have
  std::atomic<bool> spoil_places{false}; // a failure unmaps the place, and nothing can come to it
  std::atomic<long> purges{0};
  std::atomic<bool> fork_during_start{false};
  std::atomic<bool> is_starting{false};
  std::atomic<bool> is_forking{false};

  bool next_fails() noexcept {
    const long now = ++calls;
    const long from = fail_from;
    return from != 0 && (for_good ? now >= from : now == from);
  }
};
extern fault_plan plan;

#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      std::fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
      ::_exit(1);                                                            \
    }                                                                        \
  } while (false)

struct process_kib {
  long addresses = 0;
  long resident = 0;
};

inline process_kib kib_of_process() {
  std::array<char, 64> text{};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  EXPECT(file >= 0 && ::read(file, text.data(), text.size() - 1) > 0);
  ::close(file);
  const long page_kib = static_cast<long>(::sysconf(_SC_PAGESIZE) / 1024);
  char* rest = nullptr;
  const long addresses = std::strtol(text.data(), &rest, 10);
  return {addresses * page_kib, std::strtol(rest, nullptr, 10) * page_kib};
}

/// Effects: plays something in a process of its own, which has to end well.
template <class Body>
void play_alone(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    ::setenv("HEAPWISE_MALLOC_PURGE_THREAD", "1", 1); // also for root
    body();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

} // namespace faulty
