// Calls with addresses that are not blocks, and with sizes that are too large.
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/collect/sweep.hpp"
#include "gc/collect/visit.hpp"
#include "gc/process.hpp"
#include "gc/surroundings.hpp"
#include "os/expects.hpp"

using gc_test::statistics;

namespace {

/// Returns: what a child says on standard error before it ends by SIGABRT; something else if it
/// does not.
template <class Body>
std::string last_words(Body body) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::signal(SIGABRT, SIG_DFL);
    ::dup2(ends[1], STDERR_FILENO);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char part[256];
  for (ssize_t length = 0; (length = ::read(ends[0], part, sizeof part)) > 0;) {
    text.append(part, static_cast<std::size_t>(length));
  }
  ::close(ends[0]);
  int status = 0;
  ::waitpid(child, &status, 0);
  const bool aborted = WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
  return aborted ? text.substr(0, text.find('\n')) : "ended otherwise: " + text;
}

} // namespace

TEST_CASE("an address that is not a block can neither be freed nor get another size") {
  heapwise_gc_init(nullptr);
  int on_stack = 0;
  for (const int offset : {8, 16}) {
    CAPTURE(offset);
    CHECK(last_words([offset] {
            heapwise_gc_free(static_cast<char*>(heapwise_gc_malloc(64)) + offset);
          }) == "heapwise: heapwise_gc_free of an address where no block begins");
    CHECK(last_words([offset] {
            static_cast<void>(
                heapwise_gc_realloc(static_cast<char*>(heapwise_gc_malloc(64)) + offset, 1000));
          }) == "heapwise: heapwise_gc_realloc of an address where no block begins");
  }
  CHECK(last_words([&] { heapwise_gc_free(&on_stack); }) ==
        "heapwise: heapwise_gc_free of an address where no block begins");
  CHECK(last_words([&] { static_cast<void>(heapwise_gc_realloc(&on_stack, 1)); }) ==
        "heapwise: heapwise_gc_realloc of an address where no block begins");
}

TEST_CASE("a world is started by the thread that stopped it, and collected only while it runs") {
  heapwise_gc_init(nullptr);
  CHECK(last_words([] { heapwise_gc_start_world(); }) ==
        "heapwise: heapwise_gc_start_world in a thread that has not stopped the world");
  CHECK(last_words([] {
          heapwise_gc_stop_world();
          heapwise_gc_collect();
        }) == "heapwise: a collection between stopping and starting the world");
}

TEST_CASE("nothing is allocated for an address that is not a block") {
  heapwise_gc_init(nullptr);
  // Without memory for it, realloc returned before it looked at the address.
  CHECK(last_words([] {
          static_cast<void>(
              heapwise_gc_realloc(static_cast<char*>(heapwise_gc_malloc(64)) + 8, SIZE_MAX / 2));
        }) == "heapwise: heapwise_gc_realloc of an address where no block begins");
}

TEST_CASE("a size that no collection could make room for is refused without one") {
  heapwise_gc_init(nullptr);
  const std::size_t before = statistics().collections;
  for (const std::size_t size : {SIZE_MAX / 2, std::size_t{1} << 60, std::size_t{1} << 39}) {
    CAPTURE(size);
    errno = 0;
    CHECK(heapwise_gc_malloc(size) == nullptr);
    CHECK(errno == ENOMEM);
  }
  CHECK(statistics().collections == before);
}

TEST_CASE(
    "memory of the program that is not a block is returned as it is when there is no memory") {
  static char reserve[256];
  constexpr std::size_t too_much = std::size_t{64} << 20;
  const int status = gc_test::status_of_process([] {
    heapwise_gc_init(nullptr);
    heapwise_gc_set_limit(std::size_t{4} << 20);
    heapwise_gc_on_no_memory([](std::size_t, void*) -> void* { return reserve; }, nullptr);
    if (heapwise_gc_malloc_uncollectable(too_much) != reserve) return 1;
    if (heapwise_gc_malloc_atomic_uncollectable(too_much) != reserve) return 2;
    auto* const block = static_cast<char*>(heapwise_gc_malloc(64));
    block[0] = 'a';
    heapwise_gc_weak cell{};
    if (heapwise_gc_keep(block) != 0 || heapwise_gc_set_weak(&cell, block) != 0) return 3;
    if (heapwise_gc_realloc(block, too_much) != reserve || reserve[0] != 'a') return 4;
    return heapwise_gc_get_weak(&cell) == nullptr && statistics().kept_blocks == 0 ? 0 : 5;
  });
  CHECK(status == 0);
}

TEST_CASE("a build that checks ends where the collector calls a function without what it requires" *
          doctest::skip(heapwise::checks == heapwise::strength::none)) {
  heapwise_gc_init(nullptr);
  const std::string unlocked = last_words([] { heapwise::gc::clear_marks(); });
  CHECK(unlocked.find("the lock that the function requires is held") != std::string::npos);
  const std::string moving = last_words([] {
    const std::lock_guard hold{heapwise::gc::the_gc.lock};
    heapwise::gc::show_marked_blocks();
  });
  CHECK(moving.find("the world stands still") != std::string::npos);
  char not_a_block = 0;
  const std::string foreign =
      last_words([&] { static_cast<void>(heapwise::gc::is_marked(&not_a_block)); });
  CHECK(foreign.find("a block begins there") != std::string::npos);
}
