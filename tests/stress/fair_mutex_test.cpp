// The thread sanitizer watches a variable that the mutex protects.
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

#include "os/fair_mutex.hpp"

TEST_CASE("one thread at a time holds a fair mutex") {
  heapwise::os::fair_mutex mutex;
  int count = 0;
  const auto add = [&] {
    for (int each = 0; each < 5000; ++each) {
      const std::lock_guard hold{mutex};
      ++count;
    }
  };
  std::thread first{add};
  std::thread second{add};
  add();
  first.join();
  second.join();
  CHECK(count == 15000);
}
