#include <csignal>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/base/options.hpp"
#include "gc/surroundings.hpp"

using namespace heapwise::gc;

namespace {

/// The environment has `name=value` as long as it lives.
class with_variable {
 public:
  with_variable(const char* name, const char* value) : name_{name} { ::setenv(name, value, 1); }
  ~with_variable() { ::unsetenv(name_); }
  with_variable(const with_variable&) = delete;
  with_variable& operator=(const with_variable&) = delete;

 private:
  const char* name_;
};

/// Returns: the text on standard error meanwhile.
template <class Body>
std::string said_by(Body body) {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const int saved = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  body();
  ::dup2(saved, STDERR_FILENO);
  ::close(saved);
  ::close(ends[1]);
  std::string text(4096, '\0');
  const ssize_t length = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(length < 0 ? 0 : static_cast<std::size_t>(length));
  return text;
}

/// Returns: how a child ends that starts a collector with these options and does `body`.
template <class Body>
int status_of(const heapwise_gc_options& options, Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    if (heapwise_gc_init(&options) != 0) ::_exit(9);
    ::_exit(body() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

} // namespace

TEST_CASE("zeros are the defaults") {
  const heapwise_gc_options none{};
  const settings chosen = choose(&none);
  CHECK(chosen.markers >= 1);
  CHECK(chosen.markers <= 4);
  CHECK(chosen.free_space_divisor == 3);
  CHECK(chosen.limit_bytes == 0);
  CHECK_FALSE(chosen.interior);
  CHECK_FALSE(chosen.find_leaks);
  CHECK(chosen.signal == SIGURG);
}

TEST_CASE("the environment comes before the program") {
  heapwise_gc_options wanted{};
  wanted.markers = 2;
  wanted.free_space_divisor = 5;
  CHECK(choose(&wanted).markers == 2);
  const with_variable markers{"HEAPWISE_GC_MARKERS", "3"};
  const with_variable limit{"HEAPWISE_GC_LIMIT_MIB", "7"};
  const with_variable interior{"HEAPWISE_GC_INTERIOR_POINTERS", "1"};
  const settings chosen = choose(&wanted);
  CHECK(chosen.markers == 3);
  CHECK(chosen.free_space_divisor == 5);
  CHECK(chosen.limit_bytes == std::size_t{7} << 20);
  CHECK(chosen.interior);
  CHECK_FALSE(chosen.past_end);
  const with_variable past_end{"HEAPWISE_GC_INTERIOR_POINTERS", "2"};
  CHECK(choose(&wanted).interior);
  CHECK(choose(&wanted).past_end);
  wanted.signal = SIGUSR1;
  CHECK(choose(&wanted).signal == SIGUSR1);
  const with_variable signal{"HEAPWISE_GC_SIGNAL", "30"};
  CHECK(choose(&wanted).signal == 30);
}

TEST_CASE("a value that cannot be read is reported with the allowed ones, and ignored") {
  for (const char* value : {"0", "17", "many", "", "1x", "-1"}) {
    const with_variable markers{"HEAPWISE_GC_MARKERS", value};
    settings chosen;
    const std::string said = said_by([&] { chosen = choose(nullptr); });
    CHECK(said == std::string{"heapwise: HEAPWISE_GC_MARKERS="} + value +
                      ": no such value; it is ignored. Next: 1 to 16\n");
    CHECK(chosen.markers >= 1);
  }
  for (const char* value : {"0", "65", "9", "11", "19", "32", "33", "PWR", "-30"}) {
    const with_variable signal{"HEAPWISE_GC_SIGNAL", value};
    settings chosen;
    const std::string said = said_by([&] { chosen = choose(nullptr); });
    CHECK(said.find("no such value") != std::string::npos);
    CHECK(chosen.signal == SIGURG);
  }
  const with_variable unknown{"HEAPWISE_GC_MAKRERS", "1"};
  CHECK(said_by([] { static_cast<void>(choose(nullptr)); }).find("no such option") !=
        std::string::npos);
}

TEST_CASE("a limit is kept, with NULL, and what is garbage makes room below it") {
  heapwise_gc_options options{};
  options.limit_bytes = std::size_t{8} << 20;
  const int status = status_of(options, [] {
    if (heapwise_gc_malloc(9 << 20) != nullptr) return false;
    for (int each = 0; each < 100; ++each) { // twelve times the limit
      if (heapwise_gc_malloc(1 << 20) == nullptr) return false;
    }
    void** kept = nullptr;
    for (int each = 0; each < 100; ++each) {
      auto** const next = static_cast<void**>(heapwise_gc_malloc(1 << 20));
      if (next == nullptr) return kept != nullptr && each <= 8;
      *next = kept;
      kept = next;
    }
    return false;
  });
  CHECK(status == 0);
}

TEST_CASE("with a stack for few blocks everything is found all the same") {
  for (const std::size_t markers : {1UL, 3UL}) {
    heapwise_gc_options options{};
    options.mark_stack_bytes = 4096;
    options.markers = markers;
    const int status = status_of(options, [] {
      constexpr std::size_t width = 100'000;
      auto** const table = static_cast<void***>(heapwise_gc_malloc(width * sizeof(void*)));
      for (std::size_t each = 0; each < width; ++each) {
        table[each] = static_cast<void**>(heapwise_gc_malloc(32));
        table[each][1] = heapwise_gc_malloc(16);
        *static_cast<std::size_t*>(table[each][1]) = each;
      }
      for (int round = 0; round < 3; ++round) {
        heapwise_gc_collect();
        for (std::size_t each = 0; each < width; ++each) static_cast<void>(heapwise_gc_malloc(16));
      }
      for (std::size_t each = 0; each < width; ++each) {
        if (*static_cast<std::size_t*>(table[each][1]) != each) return false;
      }
      return gc_test::statistics().mark_stack_overflows > 0;
    });
    CHECK(status == 0);
  }
}

TEST_CASE("inner addresses count everywhere if that is asked for") {
  heapwise_gc_options options{};
  options.interior_pointers = 1;
  const int status = status_of(options, [] {
    auto** const holder = static_cast<char**>(heapwise_gc_malloc(16));
    gc_test::hidden block;
    gc_test::elsewhere([&] {
      auto* const memory = static_cast<char*>(heapwise_gc_malloc(5000));
      *holder = memory + 4999;
      block = gc_test::hidden{memory};
      for (int each = 0; each < 10; ++each) static_cast<void>(heapwise_gc_malloc(5000));
    });
    heapwise_gc_collect();
    const bool kept = gc_test::survived(block);
    *holder = nullptr;
    heapwise_gc_collect();
    return kept && !gc_test::survived(block);
  });
  CHECK(status == 0);
}

TEST_CASE("the collector may be started by a thread that is not the first" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    std::thread{[] { static_cast<void>(heapwise_gc_malloc(16)); }}.join();
    heapwise_gc_register_thread();
    auto** volatile const kept = static_cast<void**>(heapwise_gc_malloc(100));
    *kept = heapwise_gc_malloc(100);
    gc_test::elsewhere([] { heapwise_gc_collect(); });
    ::_exit(gc_test::survived(gc_test::hidden{*kept}) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}
