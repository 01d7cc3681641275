#include "heap/base/options.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"

namespace {

using contract::ending;
using contract::in_child;
using namespace heapwise::detail;

/// Effects: in a fresh process: sets the variable, reads the environment, calls is_as_wanted().
template <class Check>
ending with(const char* name, const std::string& value, const Check& is_as_wanted) {
  return in_child([&] {
    ::unsetenv("HEAPWISE_MALLOC_SHARDS"); // the suite sets it for tests of the bins
    ::setenv(name, value.c_str(), 1);
    read_options();
    if (!is_as_wanted(the_options)) std::_Exit(1);
  });
}

/// Whether the value is taken without a word.
template <class Check>
bool is_taken(const char* name, const std::string& value, const Check& is_as_wanted) {
  const ending how = with(name, value, is_as_wanted);
  return how.exit_code == 0 && how.error.empty();
}

bool are_defaults(const options& now) {
  return !now.stats && now.invalid_free == when_invalid::abort &&
         now.purge_thread == purge_threads::without_rights && now.purge_delay_ms == 500 &&
         !now.abort_without_memory && now.limit_bytes == static_cast<std::size_t>(-1) &&
         now.soft_limit_bytes == static_cast<std::size_t>(-1) && !now.follows_groups &&
         now.shards == 0 && now.huge_pages == huge_pages::by_the_system;
}

/// Whether the value is refused with this line, and changes nothing.
bool is_refused(const std::string& name, const std::string& value, const std::string& reason) {
  const ending how = with(("HEAPWISE_MALLOC_" + name).c_str(), value, are_defaults);
  const std::string line = "heapwise: HEAPWISE_MALLOC_" + name + "=" + value + ": " + reason + "\n";
  if (how.error != line) MESSAGE(how.error);
  return how.exit_code == 0 && how.error == line;
}

TEST_CASE("without a word from the environment everything is as documented") {
  CHECK(is_taken("SOMETHING_ELSE", "1", are_defaults));
  CHECK(is_taken("XHEAPWISE_MALLOC_STATS", "7", are_defaults));
}

TEST_CASE("every value that there is") {
  CHECK(is_taken("HEAPWISE_MALLOC_STATS", "1", [](const options& now) { return now.stats; }));
  CHECK(is_taken("HEAPWISE_MALLOC_STATS", "0", are_defaults));
  CHECK(is_taken("HEAPWISE_MALLOC_INVALID_FREE", "abort", are_defaults));
  CHECK(is_taken("HEAPWISE_MALLOC_INVALID_FREE", "warn",
                 [](const options& now) { return now.invalid_free == when_invalid::warn; }));
  CHECK(is_taken("HEAPWISE_MALLOC_INVALID_FREE", "ignore",
                 [](const options& now) { return now.invalid_free == when_invalid::ignore; }));
  CHECK(is_taken("HEAPWISE_MALLOC_PURGE_THREAD", "0",
                 [](const options& now) { return now.purge_thread == purge_threads::none; }));
  CHECK(is_taken("HEAPWISE_MALLOC_PURGE_THREAD", "1",
                 [](const options& now) { return now.purge_thread == purge_threads::any; }));
  CHECK(is_taken("HEAPWISE_MALLOC_PURGE_DELAY_MS", "0",
                 [](const options& now) { return now.purge_delay_ms == 0; }));
  CHECK(is_taken("HEAPWISE_MALLOC_PURGE_DELAY_MS", "4294967295",
                 [](const options& now) { return now.purge_delay_ms == 4294967295; }));
  CHECK(is_taken("HEAPWISE_MALLOC_OUT_OF_MEMORY", "abort",
                 [](const options& now) { return now.abort_without_memory; }));
  CHECK(is_taken("HEAPWISE_MALLOC_OUT_OF_MEMORY", "null", are_defaults));
  CHECK(is_taken("HEAPWISE_MALLOC_LIMIT_MIB", "3",
                 [](const options& now) { return now.limit_bytes == 3UL << 20; }));
  CHECK(is_taken("HEAPWISE_MALLOC_LIMIT_MIB", "17592186044415",
                 [](const options& now) { return now.limit_bytes == 17592186044415UL << 20; }));
  CHECK(is_taken("HEAPWISE_MALLOC_SOFT_LIMIT_MIB", "3",
                 [](const options& now) { return now.soft_limit_bytes == 3UL << 20; }));
  CHECK(is_taken("HEAPWISE_MALLOC_SOFT_LIMIT_MIB", "auto",
                 [](const options& now) { return now.follows_groups; }));
  CHECK(
      is_taken("HEAPWISE_MALLOC_SHARDS", "1", [](const options& now) { return now.shards == 1; }));
  CHECK(is_taken("HEAPWISE_MALLOC_SHARDS", "32",
                 [](const options& now) { return now.shards == 32; }));
  CHECK(is_taken("HEAPWISE_MALLOC_HUGE_PAGES", "never",
                 [](const options& now) { return now.huge_pages == huge_pages::never; }));
  CHECK(is_taken("HEAPWISE_MALLOC_HUGE_PAGES", "1",
                 [](const options& now) { return now.huge_pages == huge_pages::asked; }));
  CHECK(is_taken("HEAPWISE_MALLOC_HUGE_PAGES", "always",
                 [](const options& now) { return now.huge_pages == huge_pages::always; }));
  CHECK(is_taken("HEAPWISE_MALLOC_HUGE_PAGES", "0", are_defaults));
}

TEST_CASE("values that there are not are refused, each with a line that says which there are") {
  for (const char* value : {"", "2", "yes", "10", " 1"}) {
    CHECK(is_refused("STATS", value, "no such value; it is ignored. Next: 0 or 1"));
    CHECK(is_refused("PURGE_THREAD", value, "no such value; it is ignored. Next: 0 or 1"));
    CHECK(is_refused("SOFT_LIMIT_MIB", std::string{"-"} + value,
                     "no such value; it is ignored. Next: auto, or a number of MiB above 0"));
    CHECK(is_refused("HUGE_PAGES", value,
                     "no such value; it is ignored. Next: never, 0, 1 or always"));
  }
  for (const char* value : {"", "Abort", "aborts", "0"}) {
    CHECK(is_refused("INVALID_FREE", value,
                     "no such value; it is ignored. Next: abort, warn or ignore"));
    CHECK(is_refused("OUT_OF_MEMORY", value, "no such value; it is ignored. Next: null or abort"));
  }
  for (const char* value : {"", "-1", "1.5", "10ms", "4294967296", "x"}) {
    CHECK(is_refused("PURGE_DELAY_MS", value, "no such value; it is ignored. Next: milliseconds"));
  }
  for (const char* value : {"", "0", "-1", "17592186044416", "99999999999999999999", "3M"}) {
    CHECK(is_refused("LIMIT_MIB", value,
                     "no such value; it is ignored. Next: a number of MiB above 0"));
  }
}

TEST_CASE("there are 1 to 32 shards") {
  for (const char* value : {"", "0", "-1", "33", "many"}) {
    CHECK(is_refused("SHARDS", value, "no such value; it is ignored. Next: 1 to 32"));
  }
}

TEST_CASE("options that there are not are refused") {
  constexpr const char* reason =
      "no such option; it is ignored. Next: STATS, INVALID_FREE, PURGE_THREAD, PURGE_DELAY_MS, "
      "OUT_OF_MEMORY, LIMIT_MIB, SOFT_LIMIT_MIB, SHARDS, REPORT, HUGE_PAGES, GUARD_EVERY, "
      "DEEP_BINDING, PROFILE_EVERY, PROFILE, PROFILE_SIGNAL, CALL_SITES";
  CHECK(is_refused("STAT", "1", reason));
  CHECK(is_refused("STATS2", "1", reason));
  CHECK(is_refused("stats", "1", reason));
  CHECK(is_refused("", "1", reason));
}

TEST_CASE("the heap does not read the variables of others") {
  for (const char* name : {"HEAPWISE_PROBE_OUT", "HEAPWISE_NATIVE", "HEAPWISE_PAD",
                           "HEAPWISE_STORE", "HEAPWISE_GC_MARKERS", "HEAPWISE_GC_STATS",
                           "HEAPWISE_SOMETHING_NEW", "HEAPWISE_", "HEAPWISE_MALLOC"}) {
    CAPTURE(name);
    CHECK(is_taken(name, "x", are_defaults));
  }
}

TEST_CASE("a name without MALLOC is not read") {
  CHECK(is_taken("HEAPWISE_STATS", "1", are_defaults));
  CHECK(is_taken("HEAPWISE_SHARDS", "7", are_defaults));
  CHECK(is_taken("HEAPWISE_SHARDS", "x", are_defaults));
}

TEST_CASE("a line is written once in a process, and not in its children") {
  const ending how = in_child([] {
    ::setenv("HEAPWISE_MALLOC_STATS", "2", 1);
    heapwise_free(heapwise_malloc(100));
    const ending child = in_child([] { heapwise_free(heapwise_malloc(100)); });
    if (!child.error.empty()) std::_Exit(2);
  });
  CHECK(how.exit_code == 0);
  CHECK(how.error ==
        "heapwise: HEAPWISE_MALLOC_STATS=2: no such value; it is ignored. Next: 0 or 1\n");
}

TEST_CASE("a value longer than a line is refused in a line") {
  const ending how = with("HEAPWISE_MALLOC_STATS", std::string(5000, 'x'), are_defaults);
  CHECK(how.exit_code == 0);
  REQUIRE_FALSE(how.error.empty());
  CHECK(how.error.back() == '\n');
}

TEST_CASE("the statistics are written when the process ends, if asked for") {
  for (const bool asked : {false, true}) {
    const ending how = in_child([&] {
      if (asked) ::setenv("HEAPWISE_MALLOC_STATS", "1", 1);
      heapwise_free(heapwise_malloc(100));
      std::exit(0);
    });
    CHECK(how.exit_code == 0);
    CHECK((how.error.find("heapwise malloc, profile default\n") == 0) == asked);
  }
}

TEST_CASE("a program without memory ends as its options say") {
  const ending null = in_child([] {
    errno = 0;
    if (heapwise_malloc(SIZE_MAX / 2) != nullptr || errno != ENOMEM) std::_Exit(1);
  });
  CHECK(null.exit_code == 0);
  CHECK(null.error.empty());
  const ending aborted = in_child([] {
    ::setenv("HEAPWISE_MALLOC_OUT_OF_MEMORY", "abort", 1);
    heapwise_free(heapwise_malloc(SIZE_MAX / 2));
  });
  CHECK(aborted.signal == SIGABRT);
  constexpr const char* line =
      "heapwise: no memory. Next: raise the limit, or HEAPWISE_MALLOC_OUT_OF_MEMORY=null lets the "
      "program handle it\n";
  CHECK(aborted.error.rfind(line, 0) == 0);
}

TEST_CASE("an invalid free aborts, warns or is ignored") {
  for (const std::string what : {"abort", "warn", "ignore"}) {
    CAPTURE(what);
    int foreign = 0;
    const ending how = in_child([&] {
      ::setenv("HEAPWISE_MALLOC_INVALID_FREE", what.c_str(), 1);
      heapwise_free(&foreign);
    });
    CHECK((how.signal == SIGABRT) == (what == "abort"));
    CHECK(how.error.empty() == (what == "ignore"));
  }
}

TEST_CASE("above the limit there is no memory, below it there is") {
  const ending how = in_child([] {
    ::setenv("HEAPWISE_MALLOC_LIMIT_MIB", "10", 1);
    void* fits = heapwise_malloc(8 << 20);
    if (fits == nullptr) std::_Exit(1);
    if (heapwise_malloc(4 << 20) != nullptr) std::_Exit(2);
    if (heapwise_realloc(fits, 12 << 20) != nullptr) std::_Exit(3);
    fits = heapwise_realloc(fits, 9 << 20);
    if (fits == nullptr) std::_Exit(4); // what is in use counts once
    heapwise_free(fits);
    std::size_t small_bytes = 0;
    while (heapwise_malloc(1000) != nullptr) small_bytes += 1000;
    if (small_bytes < 9 << 20 || small_bytes > 10 << 20) std::_Exit(5);
  });
  CHECK(how.exit_code == 0);
}

} // namespace
