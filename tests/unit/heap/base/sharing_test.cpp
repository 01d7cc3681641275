// The counting build's locks and lines, compiled here although the heap itself does not count.
#include "heap/base/sharing.hpp"

#include <mutex>
#include <thread>
#include <type_traits>

#include <doctest/doctest.h>

#include "os/measuring.hpp"

namespace {

using namespace heapwise::detail;

const line_counts& counts_of(shared kind) noexcept {
  return the_line_counts[static_cast<std::size_t>(kind)];
}

TEST_CASE("other builds keep nothing of it") {
  CHECK(std::is_empty_v<line_mark<shared::bin_figures, false>>);
  CHECK(std::is_same_v<heap_mutex<shared::bin>, heapwise::os::mutex> == !counts_sharing);
}

TEST_CASE("a lock counts who had it before") {
  static counted_lock_of<shared::mixed> lock;
  const auto thrice = [] {
    for (int i = 0; i < 3; ++i) const std::lock_guard hold{lock};
  };
  thrice();
  CHECK(lock.counts().acquisitions == 3);
  CHECK(lock.counts().handovers == 0);
  std::thread{thrice}.join();
  thrice();
  CHECK(lock.counts().acquisitions == 9);
  CHECK(lock.counts().handovers == 2);
  CHECK(lock.counts().contended == 0);
}

TEST_CASE("a lock counts who had to wait, and for how long it was held") {
  constexpr std::uint64_t most_rounds = 1000;
  static counted_lock_of<shared::space> lock;
  std::uint64_t rounds = 0;
  // The other thread may be kept off its processor until the lock is free again.
  while (lock.counts().contended == 0 && rounds < most_rounds) {
    std::atomic<bool> waits{false};
    lock.lock();
    std::thread other{[&] {
      REQUIRE(!lock.try_lock());
      waits = true;
      const std::lock_guard hold{lock};
    }};
    while (!waits) std::this_thread::yield();
    const std::uint64_t begin_ns = heapwise::os::now_ns();
    while (heapwise::os::now_ns() - begin_ns < 2'000'000) {
    }
    lock.unlock();
    other.join();
    ++rounds;
  }
  CHECK(lock.counts().acquisitions == 2 * rounds);
  CHECK(lock.counts().contended == 1);
  // Another program may have been let in while it was held.
  const bool counted = lock.counts().longest_ns >= 2'000'000;
  CHECK((counted || lock.counts().interrupted > 0));
}

TEST_CASE("a line counts the writes after those of another thread") {
  line_mark<shared::large_figures, true> mark;
  const std::uint64_t writes = counts_of(shared::large_figures).writes;
  const std::uint64_t handovers = counts_of(shared::large_figures).handovers;
  mark.written();
  mark.written();
  std::thread{[&] { mark.written(); }}.join();
  mark.written();
  CHECK(counts_of(shared::large_figures).writes == writes + 4);
  CHECK(counts_of(shared::large_figures).handovers == handovers + 2);
}

} // namespace
