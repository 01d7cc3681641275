// Thread-local variables of libraries that come and go while the collector runs.
#include <array>
#include <atomic>
#include <csignal>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/libraries.hpp"
#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::keep_new_block;
using gc_test::library;
using gc_test::overwrite_stack;
using gc_test::survived;

namespace {

/// Effects: calls `body` in a registered thread, then `meanwhile` in this one, then lets it end.
template <class Body, class Meanwhile>
void beside(std::size_t threads, Body body, Meanwhile meanwhile) {
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> over{false};
  std::vector<std::thread> all;
  for (std::size_t each = 0; each < threads; ++each) {
    all.emplace_back([&, each] {
      heapwise_gc_register_thread();
      body(each);
      overwrite_stack();
      ready.fetch_add(1);
      ready.notify_one();
      over.wait(false); // blocked: it has to be interrupted
      heapwise_gc_unregister_thread();
    });
  }
  for (std::size_t seen = 0; (seen = ready.load()) != threads;) ready.wait(seen);
  meanwhile();
  over.store(true);
  over.notify_all();
  for (std::thread& each : all) each.join();
}

} // namespace

TEST_CASE("threads that register and then use a library for the first time keep their blocks" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  const library plugin{HEAPWISE_GC_PLUGIN};
  heapwise_gc_init(nullptr);
  std::array<hidden, 8> blocks;
  beside(
      blocks.size(), [&](std::size_t each) { blocks[each] = keep_new_block(plugin); },
      [&] {
        heapwise_gc_collect();
        for (const hidden& each : blocks) CHECK(survived(each));
      });
  heapwise_gc_collect();
  for (const hidden& each : blocks) CHECK_FALSE(survived(each));
}

TEST_CASE("blocks in the variables of forty libraries are kept" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  std::vector<library> plugins;
  for (int each = 0; each < 40; ++each) plugins.emplace_back(HEAPWISE_GC_PLUGIN);
  std::array<hidden, 40> blocks;
  SUBCASE("of the first thread, when another collects") {
    for (std::size_t each = 0; each < blocks.size(); ++each) {
      blocks[each] = keep_new_block(plugins[each]);
    }
    overwrite_stack();
    elsewhere([] { heapwise_gc_collect(); });
    for (const hidden& each : blocks) CHECK(survived(each));
  }
  SUBCASE("of another thread") {
    const auto keep = [&](std::size_t) {
      for (std::size_t each = 0; each < blocks.size(); ++each) {
        blocks[each] = keep_new_block(plugins[each]);
      }
    };
    beside(1, keep, [&] {
      heapwise_gc_collect();
      for (const hidden& each : blocks) CHECK(survived(each));
    });
  }
  SUBCASE("of the thread that collects") {
    elsewhere([&] {
      for (std::size_t each = 0; each < blocks.size(); ++each) {
        blocks[each] = keep_new_block(plugins[each]);
      }
      overwrite_stack();
      heapwise_gc_collect();
      for (const hidden& each : blocks) CHECK(survived(each));
    });
  }
}

TEST_CASE("a variable in the first thread's part that no table tells of is found" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  const library plugin{HEAPWISE_GC_PLUGIN_FIXED};
  const hidden block = keep_new_block(plugin);
  overwrite_stack();
  elsewhere([] { heapwise_gc_collect(); });
  CHECK(survived(block));
  plugin.keep_in_thread(nullptr);
  elsewhere([] { heapwise_gc_collect(); });
  CHECK_FALSE(survived(block));
}

TEST_CASE("variables of an unloaded library are not read, whatever came after it" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60);
    heapwise_gc_unregister_thread();
    library before{HEAPWISE_GC_PLUGIN_LARGE};
    before.keep_in_thread(nullptr); // takes a mebibyte
    heapwise_gc_register_thread();
    before.close();
    const library after{HEAPWISE_GC_PLUGIN};
    const hidden block = keep_new_block(after); // gives the mebibyte back
    overwrite_stack();
    heapwise_gc_collect();
    elsewhere([] { heapwise_gc_collect(); });
    ::_exit(survived(block) ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("a larger library in the place of a smaller one is not read beyond the smaller one" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  library before{HEAPWISE_GC_PLUGIN};
  beside(
      4, [&](std::size_t) { before.keep_in_thread(nullptr); },
      [&] { // the others have memory for the one that goes, and none for the one that comes
        before.close();
        const library after{HEAPWISE_GC_PLUGIN_LARGE};
        const hidden block = keep_new_block(after);
        overwrite_stack();
        heapwise_gc_collect();
        CHECK(survived(block));
      });
}
