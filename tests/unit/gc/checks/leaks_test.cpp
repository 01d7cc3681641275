#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <mutex>
#include <set>
#include <thread>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/collect/collect.hpp"
#include "gc/process.hpp"
#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;

namespace {

struct reports {
  std::array<std::pair<void*, std::size_t>, 200> each;
  std::size_t count = 0;
};

void note(void* block, std::size_t size, void* argument) {
  auto& into = *static_cast<reports*>(argument);
  if (into.count < into.each.size()) into.each[into.count++] = {block, size};
}

void start() {
  heapwise_gc_options options{};
  options.find_leaks = 1;
  REQUIRE(heapwise_gc_init(&options) == 0);
}

void* volatile the_static_root;

/// The addresses that were reported, as nobody keeps them.
std::multiset<const void*> reported_by_a_collection() {
  static reports seen;
  seen.count = 0;
  heapwise_gc_on_leak(note, &seen);
  heapwise_gc_collect();
  std::multiset<const void*> blocks;
  for (std::size_t each = 0; each < seen.count; ++each) blocks.insert(seen.each[each].first);
  seen = {};
  return blocks;
}

/// Returns: how a child that runs `body` ends.
template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGABRT, SIG_DFL);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

} // namespace

TEST_CASE("exactly the planted leaks are reported, each of them once") {
  start();
  static_cast<void>(reported_by_a_collection()); // those of tests before
  static std::array<hidden, 40> planted;
  elsewhere([&] {
    constexpr std::array<std::size_t, 4> sizes{16, 100, 6000, 100'000};
    void** kept = nullptr;
    for (std::size_t each = 0; each < planted.size(); ++each) {
      const std::size_t size = sizes[each % sizes.size()];
      planted[each] =
          hidden{each % 3 == 0 ? heapwise_gc_malloc_atomic(size) : heapwise_gc_malloc(size)};
      heapwise_gc_free(heapwise_gc_malloc(size));                        // freed as it should be
      auto** const next = static_cast<void**>(heapwise_gc_malloc(size)); // reachable
      *next = kept;
      kept = next;
    }
    the_static_root = kept;
  });
  const std::multiset<const void*> blocks = reported_by_a_collection();
  CHECK(blocks.size() == planted.size());
  for (const hidden each : planted) CHECK(blocks.count(each.shown()) == 1);
  CHECK(reported_by_a_collection().empty());
  the_static_root = nullptr;
  CHECK(reported_by_a_collection().size() == planted.size()); // the others, when they are lost too
}

TEST_CASE("a leak has its size, and is counted") {
  start();
  static_cast<void>(reported_by_a_collection());
  const std::size_t before = gc_test::statistics().leaks;
  elsewhere([] { static_cast<void>(heapwise_gc_malloc(5000)); });
  static reports seen;
  seen.count = 0;
  heapwise_gc_on_leak(note, &seen);
  heapwise_gc_collect();
  REQUIRE(seen.count == 1);
  CHECK(seen.each[0].second >= 5000);
  CHECK(seen.each[0].second <= 6000);
  CHECK(gc_test::statistics().leaks == before + 1);
  seen = {};
}

TEST_CASE("a lost block holds what it held until it is reported" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  start();
  static_cast<void>(reported_by_a_collection());
  constexpr std::size_t size = 100;
  constexpr std::size_t count = 50;
  elsewhere([] {
    for (std::size_t each = 0; each < count; ++each) {
      std::memset(heapwise_gc_malloc(size), 0x5A, size);
    }
  });
  static std::size_t whole;
  whole = 0;
  static std::size_t most_live_bytes;
  most_live_bytes = 0;
  const auto look = [](void* block, std::size_t, void*) {
    elsewhere([] { // others allocate and collect meanwhile
      for (std::size_t each = 0; each < count; ++each) {
        void* const garbage = heapwise_gc_malloc(size);
        std::memset(garbage, 1, size);
        heapwise_gc_free(garbage);
      }
      std::lock_guard hold{heapwise::gc::the_gc.lock};
      heapwise::gc::collect_locked();
      most_live_bytes = std::max(most_live_bytes, heapwise::gc::the_gc.counted.live_bytes);
    });
    const auto* const bytes = static_cast<const unsigned char*>(block);
    whole += std::count(bytes, bytes + size, 0x5A) == size ? 1 : 0;
  };
  heapwise_gc_on_leak(look, nullptr);
  heapwise_gc_collect();
  CHECK(whole == count);
  CHECK(reported_by_a_collection().empty());
  CHECK(most_live_bytes < count * size / 2); // what is only held does not count as live
}

namespace {

enum class step { not_found, reporting, may_end, over };
std::atomic<step> the_step{step::not_found};
bool is_forked_by_report = false;
pid_t child_of_report = 0;

void wait_in_report(void*, std::size_t, void*) {
  the_step = step::reporting;
  the_step.notify_all();
  the_step.wait(step::reporting);
}

void fork_in_report(void*, std::size_t, void*) {
  if (child_of_report != 0 || is_forked_by_report) return;
  child_of_report = ::fork();
  is_forked_by_report = child_of_report == 0;
}

bool nothing_is_held() {
  const std::lock_guard hold{heapwise::gc::the_gc.lock};
  return heapwise::gc::the_gc.leak_reports == 0 && heapwise::gc::the_gc.leaks.size() == 0;
}

} // namespace

TEST_CASE("a child forked during another thread's report gives up what it reported" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  start();
  static_cast<void>(reported_by_a_collection());
  elsewhere([] { static_cast<void>(heapwise_gc_malloc(64)); });
  the_step = step::not_found;
  heapwise_gc_on_leak(wait_in_report, nullptr);
  std::thread reporter{[] {
    heapwise_gc_register_thread();
    heapwise_gc_collect();
    the_step = step::over;
    the_step.notify_all();
  }};
  the_step.wait(step::not_found);
  REQUIRE(the_step == step::reporting);
  const int status = gc_test::status_of_process([] {
    elsewhere([] { static_cast<void>(heapwise_gc_malloc(64)); });
    const bool is_reported = reported_by_a_collection().size() == 1;
    return is_reported && nothing_is_held() ? 0 : 1;
  });
  the_step = step::may_end;
  the_step.notify_all();
  reporter.join();
  CHECK(status == 0);
  CHECK(reported_by_a_collection().empty());
  CHECK(nothing_is_held());
}

TEST_CASE("a report may fork, and the child goes on with it" * doctest::skip(HEAPWISE_SKIP_STOPS)) {
  start();
  static_cast<void>(reported_by_a_collection());
  constexpr std::size_t count = 3;
  elsewhere([] {
    for (std::size_t each = 0; each < count; ++each) static_cast<void>(heapwise_gc_malloc(64));
  });
  child_of_report = 0;
  heapwise_gc_on_leak(fork_in_report, nullptr);
  heapwise_gc_collect();
  if (is_forked_by_report) ::_exit(nothing_is_held() ? 0 : 1);
  REQUIRE(child_of_report > 0);
  int status = -1;
  ::waitpid(child_of_report, &status, 0);
  CHECK(status == 0);
  CHECK(nothing_is_held());
}

TEST_CASE("without a callback each leak is a line on standard error") {
  start();
  static_cast<void>(reported_by_a_collection());
  heapwise_gc_on_leak(nullptr, nullptr);
  elsewhere([] { static_cast<void>(heapwise_gc_malloc(48)); });
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  heapwise_gc_collect();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(ends[1]);
  std::array<char, 4096> text{};
  const ssize_t length = ::read(ends[0], text.data(), text.size() - 1);
  ::close(ends[0]);
  const std::string_view line{text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
  CHECK(line.starts_with("heapwise: lost: a block of 48 bytes at 0x"));
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
}

TEST_CASE("a block freed twice ends the process") {
  start();
  const int status = status_of_child([] {
    void* const block = heapwise_gc_malloc(64);
    heapwise_gc_free(block);
    heapwise_gc_free(block);
  });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}
