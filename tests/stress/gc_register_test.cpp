// Forks while other threads register and unregister: the child can collect.
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../unit/gc/surroundings.hpp"

namespace {

/// Returns: whether a child of a fork could collect twice.
bool child_collects() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60); // a child that waits for a lock of another thread ends by it
    heapwise_gc_collect();
    static_cast<void>(heapwise_gc_malloc(100));
    heapwise_gc_collect();
    ::_exit(0);
  }
  int status = 0;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

} // namespace

TEST_CASE("a child that is forked while others register collects" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  std::atomic<bool> over{false};
  std::vector<std::thread> others;
  for (int each = 0; each < 3; ++each) {
    others.emplace_back([&] {
      while (!over.load()) {
        heapwise_gc_register_thread();
        heapwise_gc_unregister_thread();
      }
    });
  }
  int failed = 0;
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::seconds{3}; // slow when sanitized
  for (int each = 0; each < 200 && failed == 0; ++each) {
    failed += child_collects() ? 0 : 1;
    if (std::chrono::steady_clock::now() > end) break;
  }
  over.store(true);
  for (std::thread& each : others) each.join();
  CHECK(failed == 0);
}
