// The process that marks: when it ends, what it holds, and what the program does beside it.
#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

#include <doctest/doctest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/copies.hpp"
#include "gc/process.hpp"

using namespace gc_test;

namespace {

/// Returns: a copy that counts as one that has marked and is about to end, and does not until it is
/// killed. Requires: fewer than most_leaving of them.
heapwise::os::copy_number copy_that_does_not_end() {
  const heapwise::os::copy_number copy = heapwise::os::copy_process();
  if (copy == heapwise::os::this_is_the_copy) {
    for (;;) ::pause();
  }
  REQUIRE(copy != heapwise::os::no_copy);
  const std::lock_guard hold{the_gc.lock};
  auto& leaving = the_gc.copy.leaving;
  *std::find(leaving.begin(), leaving.end(), heapwise::os::no_copy) = copy;
  return copy;
}

/// Effects: waits until a thread of this process waits for something.
void wait_until_it_sleeps(::pid_t thread) {
  const std::string stat = "/proc/self/task/" + std::to_string(thread) + "/stat";
  std::string line;
  do {
    std::ifstream file{stat};
    std::getline(file, line);
  } while (line.find(") S ") == std::string::npos);
}

} // namespace

TEST_CASE("copies that are killed cost nothing but time" * doctest::skip(without_copies)) {
  start();
  elsewhere(make_long_list);
  heapwise_gc_collect();
  for (std::size_t each = 1; each <= 3; ++each) {
    REQUIRE(stop_a_copy());
    ::kill(copy_now(), SIGKILL);
    REQUIRE(take_over());
    CHECK(statistics().lost_copies == each);
  }
  const std::size_t collections = statistics().collections;
  CHECK_FALSE(begin_copy(2000)); // no more
  CHECK(statistics().collections > collections);
  std::size_t nodes = 0;
  for (node* each = the_list; each != nullptr; each = each->next) ++nodes;
  CHECK(nodes == nodes_of_long_list);
}

TEST_CASE("a copy that stays stopped is given up, and the program collects by itself" *
          doctest::skip(without_copies)) {
  start();
  elsewhere(make_long_list);
  heapwise_gc_collect();
  REQUIRE(stop_a_copy());
  const std::size_t lost = statistics().lost_copies;
  REQUIRE(take_over()); // would wait for ever
  CHECK(statistics().lost_copies == lost);
  CHECK(begin_copy()); // the next one may work
  std::size_t nodes = 0;
  for (node* each = the_list; each != nullptr; each = each->next) ++nodes;
  CHECK(nodes == nodes_of_long_list);
}

TEST_CASE("a copy that is stopped when it has marked does not hold up the next ones" *
          doctest::skip(without_copies)) {
  start();
  heapwise::os::copy_number last = heapwise::os::no_copy;
  for (std::size_t each = 0; each < heapwise::gc::most_leaving; ++each) {
    last = copy_that_does_not_end();
    ::kill(last, SIGSTOP);
  }
  heapwise_gc_collect(); // would wait for ever
  {
    const std::lock_guard hold{the_gc.lock};
    CHECK(the_gc.copy.leaving.back() == heapwise::os::no_copy);
  }
  ::kill(last, SIGKILL);
}

TEST_CASE("a thread rests for a moment when the heap gets large before the copy has marked" *
          doctest::skip(without_copies)) {
  start();
  elsewhere(make_long_list);
  heapwise_gc_collect();
  REQUIRE(stop_a_copy());
  const auto has_room = [] {
    const std::lock_guard hold{the_gc.lock};
    return !the_gc.pace.is_too_large(the_gc.memory.used_bytes() + 4 * heapwise::gc::slice_bytes);
  };
  const std::size_t longest_before = statistics().longest_wait_ns;
  std::size_t longest = longest_before;
  elsewhere([&] {
    while (longest == longest_before && has_room()) {
      make_garbage();
      longest = statistics().longest_wait_ns;
    }
  });
  CHECK(longest > longest_before);
  CHECK(longest <= std::max<std::size_t>(longest_before, heapwise::gc::pacer::most_ns));
  ::kill(copy_now(), SIGCONT);
  CHECK(take_over());
}

TEST_CASE("a collection does not wait until the copy that marked before has ended" *
          doctest::skip(without_copies)) {
  start();
  const heapwise::os::copy_number copy = copy_that_does_not_end();
  heapwise_gc_collect(); // would wait for ever
  {
    const std::lock_guard hold{the_gc.lock};
    CHECK(the_gc.copy.leaving.front() == copy);
  }
  REQUIRE(::kill(copy, SIGKILL) == 0);
  heapwise::os::wait_for_copy(
      copy); // leaves it to the collector, which finds out that it has ended
  heapwise_gc_collect();
  const std::lock_guard hold{the_gc.lock};
  CHECK(the_gc.copy.leaving.front() == heapwise::os::no_copy);
}

TEST_CASE("the wait for the end of the oldest of several copies is counted" *
          doctest::skip(without_copies)) {
  start();
  const heapwise::os::copy_number oldest = copy_that_does_not_end();
  heapwise::os::copy_number last = oldest;
  for (std::size_t each = 1; each < heapwise::gc::most_leaving; ++each) {
    last = copy_that_does_not_end();
  }
  constexpr std::chrono::milliseconds least{20};
  std::atomic<bool> collects{false};
  std::thread releaser{[&, waiting = ::gettid()] {
    while (!collects.load()) std::this_thread::yield();
    wait_until_it_sleeps(waiting);
    std::this_thread::sleep_for(least);
    ::kill(oldest, SIGKILL);
  }};
  const std::size_t before = statistics().longest_wait_ns;
  collects.store(true);
  heapwise_gc_collect();
  const std::size_t longest = statistics().longest_wait_ns;
  releaser.join();
  CHECK(before < longest);
  CHECK(longest >= std::size_t{std::chrono::nanoseconds{least}.count()});
  {
    const std::lock_guard hold{the_gc.lock};
    CHECK(the_gc.copy.leaving.front() == (last == oldest ? heapwise::os::no_copy : last));
  }
  if (last != oldest) ::kill(last, SIGKILL);
}

TEST_CASE("blocks handed out while a copy marks do not raise the next budget" *
          doctest::skip(without_copies)) {
  constexpr std::uintptr_t nodes = 800'000;
  constexpr std::size_t mib = std::size_t{1} << 20;
  start();
  elsewhere([] {
    for (std::uintptr_t each = 0; each < nodes; ++each) the_list = made(the_list, each);
  });
  heapwise_gc_collect();
  REQUIRE(stop_a_copy());
  elsewhere([] {
    for (int each = 0; each < 48; ++each) make_garbage();
  });
  ::kill(copy_now(), SIGCONT);
  REQUIRE(take_over());
  const heapwise_gc_statistics told = statistics();
  REQUIRE(told.live_bytes > nodes * sizeof(node) + 2 * mib);
  // Of blocks of two words as much as lives. With what was handed out, it would be twice that.
  CHECK(told.target_heap_bytes < nodes * sizeof(node) + told.live_bytes);
}

TEST_CASE("the program does not wait for a copy, which holds no file open" *
          doctest::skip(without_copies)) {
  start();
  elsewhere(make_long_list);
  heapwise_gc_collect();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(stop_a_copy());
  CHECK(::waitpid(-1, nullptr, WNOHANG) == -1);
  CHECK(errno == ECHILD);
  ::close(ends[1]);
  char byte = 0;
  CHECK(::read(ends[0], &byte, 1) == 0); // it would wait if the copy held the other end
  ::close(ends[0]);
  heapwise_gc_collect(); // kills it
  CHECK(copy_now() == heapwise::os::no_copy);
}

TEST_CASE("when memory is short, the copy goes first, and the program keeps its files" *
          doctest::skip(without_copies)) {
  start();
  elsewhere(make_long_list);
  heapwise_gc_collect();
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  REQUIRE(stop_a_copy());
  ::kill(copy_now(), SIGCONT); // it may stand where it has not said so yet
  const std::string file = "/proc/" + std::to_string(copy_now()) + "/oom_score_adj";
  std::string adjusted;
  // What has ended is listed until the next collection. The number of tries ends a test that fails.
  for (int tries = 0; tries < 60'000 && adjusted != "1000"; ++tries) {
    std::ifstream{file} >> adjusted;
    if (adjusted != "1000") std::this_thread::sleep_for(std::chrono::milliseconds{1});
  }
  CHECK(adjusted == "1000");
  std::ifstream{"/proc/self/oom_score_adj"} >> adjusted;
  CHECK(adjusted != "1000");
  char byte = 7;
  CHECK(::write(ends[1], &byte, 1) == 1);
  CHECK(::read(ends[0], &byte, 1) == 1);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_CASE("a child of fork goes on without the copy of its parent" *
          doctest::skip(without_copies)) {
  start();
  elsewhere(make_long_list);
  heapwise_gc_collect();
  REQUIRE(stop_a_copy());
  const int status = status_of_process([] {
    if (copy_now() != heapwise::os::no_copy) return 1;
    for (int each = 0; each < 20'000; ++each) make_garbage();
    std::size_t nodes = 0;
    for (node* each = the_list; each != nullptr; each = each->next) ++nodes;
    return nodes == nodes_of_long_list && statistics().concurrent_collections > 0 ? 0 : 2;
  });
  CHECK(status == 0);
  ::kill(copy_now(), SIGCONT);
  CHECK(take_over());
}

TEST_CASE("the copy ends early when the process is killed" * doctest::skip(without_copies)) {
  REQUIRE(::prctl(PR_SET_CHILD_SUBREAPER, 1) == 0); // the copy becomes a child of the test
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int status = status_of_process([&] {
    start();
    elsewhere(make_long_list);
    heapwise_gc_collect();
    if (!stop_a_copy()) return 1;
    const heapwise::os::copy_number copy = copy_now();
    if (::write(ends[1], &copy, sizeof copy) != sizeof copy) return 2;
    ::kill(::getpid(), SIGKILL);
    return 3;
  });
  REQUIRE(WIFSIGNALED(status));
  heapwise::os::copy_number copy = 0;
  REQUIRE(::read(ends[0], &copy, sizeof copy) == sizeof copy);
  ::kill(copy, SIGCONT);
  int how = 0;
  REQUIRE(::waitpid(copy, &how, 0) == copy);
  REQUIRE(WIFEXITED(how));
  CHECK(WEXITSTATUS(how) == 1); // 0: it has marked all
}
