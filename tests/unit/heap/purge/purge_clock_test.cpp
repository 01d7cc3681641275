#include "heap/purge/purge_clock.hpp"

#include <sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "contract/child.hpp"
#include "heap/base/upcalls.hpp"
#include "heap/purge/purge.hpp"
#include "heap/space/space.hpp"
#include "heap/surroundings.hpp"
#include "os/os.hpp"

extern "C" [[gnu::weak]] void __tsan_init();
extern "C" [[gnu::weak]] void __asan_init();

namespace {

using namespace heap_tests;

std::vector<void*> make_blocks(std::size_t size, std::size_t bytes) {
  std::vector<void*> blocks;
  for (std::size_t at = 0; at < bytes; at += size) {
    blocks.push_back(heapwise_malloc(size));
    std::memset(blocks.back(), 1, size);
  }
  return blocks;
}

TEST_CASE("a purge gives back what is free: slices, pages of spans, pages between blocks in use") {
  start_without_clock();
  purge_everything();
  CHECK(the_space.dirty_bytes() == 0);
  constexpr std::size_t bytes = std::size_t{4} << 20;
  for (const std::size_t size : {std::size_t{64}, std::size_t{3000}, std::size_t{32768}, bytes}) {
    CAPTURE(size);
    const std::size_t used = the_space.used_bytes();
    const std::vector<void*> blocks = make_blocks(size, bytes);
    for (void* each : blocks) heapwise_free(each);
    const std::size_t before = purged_bytes();
    const std::size_t purged = purge_everything();
    CHECK(purged >= bytes - bytes / 16);
    CHECK(purged_bytes() == before + purged);
    CHECK(the_space.dirty_bytes() == 0);
    CHECK(the_space.used_bytes() <= used + max_span_slices * slice_bytes); // a spare span
    CHECK(purge_everything() == 0);
  }
}

TEST_CASE("survivors keep their pages and their content") {
  start_without_clock();
  purge_everything();
  std::vector<void*> blocks = make_blocks(256, std::size_t{2} << 20);
  std::vector<void*> kept;
  for (std::size_t at = 0; at < blocks.size(); ++at) {
    if (at % 64 == 0) {
      kept.push_back(blocks[at]); // one in four pages
    } else {
      heapwise_free(blocks[at]);
    }
  }
  const std::size_t purged = purge_everything();
  CHECK(purged >= (std::size_t{2} << 20) / 4 * 3 - slice_bytes);
  for (void* each : kept) {
    CHECK(*static_cast<unsigned char*>(each) == 1);
    heapwise_free(each);
  }
}

std::ptrdiff_t thread_count_of_process() {
  const std::filesystem::directory_iterator threads{"/proc/self/task"};
  return std::distance(begin(threads), end(threads));
}

// The clock itself is watched in a process of its own: the test would not end before it did.

TEST_CASE("much free memory lets the clock tick, and it gives everything back") {
  const contract::ending how = contract::in_child([] {
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 2;
    std::vector<void*> blocks = make_blocks(100, std::size_t{32} << 20);
    blocks.push_back(heapwise_malloc(std::size_t{32} << 20));
    std::memset(blocks.back(), 1, std::size_t{32} << 20);
    for (void* each : blocks) heapwise_free(each);
    notice_free_memory();
    while (purged_bytes() < std::size_t{56} << 20) std::this_thread::yield();
  });
  CHECK(how.exit_code == 0);
}

/// Effects: lets the clock tick, also if it ended before the last threads did: what these left may
/// be less than is worth a thread.
void wake_clock() {
  for (void* block : make_blocks(std::size_t{16} << 20, 1)) heapwise_free(block);
  notice_free_memory();
}

/// Effects: allocates and frees half a MiB of each class.
void use_every_class() {
  for (size_class class_index = 1; class_index <= class_count; ++class_index) {
    const std::vector<void*> blocks =
        make_blocks(class_table[class_index].bytes, std::size_t{512} << 10);
    for (void* each : blocks) heapwise_free(each);
  }
}

TEST_CASE("blocks that wait in the bins' stocks count as free memory") {
  const contract::ending how = contract::in_child([] {
    ::alarm(60);
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 2;
    use_every_class();
    while (purged_bytes() < std::size_t{8} << 20) std::this_thread::yield();
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a span that was given back is passed over until blocks come or go") {
  const contract::ending how = contract::in_child([] {
    ::alarm(60);
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 2;
    constexpr std::size_t bytes = std::size_t{16} << 20;
    const std::vector<void*> blocks = make_blocks(1024, bytes);
    const auto free_some = [&](std::size_t number) { // of eight: two pages of each four stay
      for (std::size_t at = 0; at < blocks.size(); ++at) {
        if (at / 4 % 8 == number) heapwise_free(blocks[at]);
      }
    };
    for (const std::size_t number : {0U, 2U, 4U, 6U}) free_some(number);
    bring_everything_home();
    const span& home = the_space.span_at(blocks[blocks.size() / 2]);
    while (home.touched != settled) wake_clock();
    const std::uint64_t before = home.small.purged_pages;
    free_some(3);
    bring_everything_home();
    while (home.touched != settled) wake_clock();
    if (home.small.purged_pages == before) std::_Exit(1);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("blocks in the caches of threads that ended count as free memory") {
  const contract::ending how = contract::in_child([] {
    ::alarm(60);
    // A clock that ticks while the threads end may end itself before the last of them does, and
    // what that one leaves may be less than is worth a thread.
    start_without_clock();
    std::barrier all{8}; // so that none takes over another's cache
    std::vector<std::thread> threads(8);
    for (std::thread& each : threads) {
      each = std::thread{[&] {
        for (size_class class_index = 1; class_index <= class_count;
             ++class_index) { // its cache keeps all of it
          const class_facts& facts = class_table[class_index];
          const std::size_t bytes = std::size_t{2} * facts.batch * facts.bytes;
          for (int round = 0; round < 45; ++round) { // until it uses its batches whole
            for (void* block : make_blocks(facts.bytes, bytes)) heapwise_free(block);
          }
        }
        all.arrive_and_wait();
      }};
    }
    for (std::thread& each : threads) each.join();
    if (idle_cached_bytes() < std::size_t{8} << 20) std::_Exit(1);
    the_options.purge_delay_ms = 2;
    the_options.purge_thread = purge_threads::any;
    notice_free_memory();
    while (idle_cached_bytes() != 0) std::this_thread::yield();
  });
  CHECK(how.signal == 0); // SIGALRM: the clock did not empty the caches
  CHECK(how.exit_code == 0);
}

TEST_CASE("caches of very many threads do not wait for ever") {
  const contract::ending how = contract::in_child([] {
    std::latch all_have_caches{200};
    std::vector<std::thread> threads(200);
    for (std::thread& each : threads) {
      each = std::thread{[&] {
        heapwise_free(heapwise_malloc(1));
        all_have_caches.arrive_and_wait();
      }};
    }
    for (std::thread& each : threads) each.join();
    if (idle_cache_count() > 8 + 64) std::_Exit(1);
    purge_everything();
    if (idle_cache_count() > 64 || idle_cache_count() == 0) std::_Exit(2);
  });
  CHECK(how.exit_code == 0);
}

/// Returns: the KiB of the process that are in memory and are not files.
std::size_t resident_kib() {
  std::ifstream lines{"/proc/self/status"};
  for (std::string word; lines >> word;) {
    std::size_t kib = 0;
    if (word == "RssAnon:" && lines >> kib) return kib;
  }
  return 0;
}

/// Effects: the calling thread's cache has 12 batches of 1 KiB, at least.
void get_batches() {
  for (size_class class_index = 1; class_index <= class_of(256); ++class_index) {
    std::vector<void*> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(heapwise_malloc(class_table[class_index].bytes));
    for (void* block : blocks) heapwise_free(block);
  }
}

TEST_CASE("the memory for the batches of very many threads goes back") {
  const contract::ending how = contract::in_child([] {
    ::alarm(60);
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 2;
    constexpr int count = 200;
    std::atomic<int> ready{0};
    std::latch is_measured{count};
    std::size_t resident_with_threads = 0;
    std::vector<std::thread> threads(count);
    for (std::thread& each : threads) {
      each = std::thread{[&] {
        get_batches();
        empty_own_cache();
        get_batches();
        if (++ready == count) resident_with_threads = resident_kib();
        is_measured.arrive_and_wait();
      }};
    }
    for (std::thread& each : threads) each.join();
    while (resident_kib() + count * 10 > resident_with_threads) std::this_thread::yield();
    while (unused_batch_bytes() != 0) wake_clock();
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("little free memory does not start a thread, nor does the option without one") {
  const contract::ending how = contract::in_child([] {
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 600'000; // a thread that starts does not end before it is counted
    const std::ptrdiff_t alone = thread_count_of_process();
    for (void* each : make_blocks(1000, std::size_t{4} << 20)) heapwise_free(each);
    notice_free_memory();
    if (thread_count_of_process() != alone) std::_Exit(1);
    the_options.purge_thread = purge_threads::none;
    for (void* each : make_blocks(1000, std::size_t{64} << 20)) heapwise_free(each);
    notice_free_memory();
    if (thread_count_of_process() != alone) std::_Exit(2);
    the_options.purge_thread = purge_threads::any;
    notice_free_memory();
    if (thread_count_of_process() <= alone) std::_Exit(3);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a forked child has a clock of its own") {
  if (__tsan_init != nullptr) return; // it allows no threads after such a fork
  const contract::ending how = contract::in_child([] {
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 2;
    heapwise_free(heapwise_malloc(std::size_t{64} << 20));
    notice_free_memory();
    const contract::ending child = contract::in_child([] {
      const std::size_t before = purged_bytes();
      void* const block = heapwise_malloc(std::size_t{64} << 20);
      std::memset(block, 1, std::size_t{64} << 20);
      heapwise_free(block);
      while (purged_bytes() < before + (std::size_t{64} << 20)) std::this_thread::yield();
    });
    std::_Exit(child.exit_code);
  });
  CHECK(how.exit_code == 0);
}

/// Returns: whether the runtime of a sanitizer has to know every thread, so that the clock's is one
/// of the C library.
bool threads_are_known() noexcept { return __tsan_init != nullptr || __asan_init != nullptr; }

/// Effects: much is free, and the clock's thread gives it back slowly.
void start_slow_clock() {
  the_options.purge_thread = purge_threads::any;
  the_options.purge_delay_ms = 600'000;
  heapwise_free(heapwise_malloc(std::size_t{64} << 20));
  notice_free_memory();
}

TEST_CASE("while a stop is in force there is no thread, and it comes back afterwards") {
  if (threads_are_known()) return;
  const contract::ending how = contract::in_child([] {
    const std::ptrdiff_t alone = thread_count_of_process();
    start_slow_clock();
    if (thread_count_of_process() != alone + 1) std::_Exit(1);
    {
      const clock_stop stop{after_stop::tick_again};
      if (thread_count_of_process() != alone) std::_Exit(2);
      notice_free_memory();
      if (thread_count_of_process() != alone) std::_Exit(3);
      const clock_stop inner{after_stop::rest}; // as in a handler of a signal
    }
    for (int call = 0; call < 5000 && thread_count_of_process() == alone; ++call) {
      notice_free_memory();
    }
    if (thread_count_of_process() != alone + 1) std::_Exit(4);
    const clock_stop last{after_stop::tick_again};
    forbid_clock();
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("stops and starts of many threads at once leave no thread behind a stop") {
  if (threads_are_known()) return;
  const contract::ending how = contract::in_child([] {
    ::alarm(60);
    start_slow_clock();
    std::atomic<bool> done{false};
    std::thread other{[&] {
      while (!done) notice_free_memory();
    }};
    for (int turn = 0; turn < 300; ++turn) {
      const clock_stop stop{after_stop::tick_again};
      if (heapwise::os::has_bare_thread()) std::_Exit(1);
      std::this_thread::yield();
      if (heapwise::os::has_bare_thread()) std::_Exit(2);
    }
    done = true;
    other.join();
  });
  CHECK(how.signal == 0);
  CHECK(how.exit_code == 0);
}

TEST_CASE("a process that shares its memory with the parent starts no thread") {
  if (__tsan_init != nullptr) return;
  const contract::ending how = contract::in_child([] {
    const std::ptrdiff_t alone = thread_count_of_process();
    the_options.purge_thread = purge_threads::any;
    the_options.purge_delay_ms = 600'000;
    static char stack[std::size_t{256} << 10];
    static std::ptrdiff_t seen = 0;
    const auto body = [](void*) {
      heapwise_free(heapwise_malloc(std::size_t{64} << 20));
      for (int call = 0; call < 100; ++call) notice_free_memory();
      seen = thread_count_of_process();
      return 0;
    };
    const pid_t child =
        ::clone(body, stack + sizeof stack, CLONE_VM | CLONE_VFORK | SIGCHLD, nullptr);
    if (child < 0 || ::waitpid(child, nullptr, 0) != child) std::_Exit(1);
    if (seen != 1) std::_Exit(2);
    for (int call = 0; call < 5000 && thread_count_of_process() == alone; ++call) {
      notice_free_memory();
    }
    if (thread_count_of_process() != alone + 1) std::_Exit(3);
  });
  CHECK(how.exit_code == 0);
}

TEST_CASE("a copy of the process that no handler knows of has free locks and a clock of its own") {
  if (threads_are_known()) return;
  const contract::ending how = contract::in_child([] {
    start_slow_clock();
    the_space.purging().lock(); // as by the thread, which the copy does not have
    const auto child = static_cast<pid_t>(::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
    if (child == 0) {
      ::alarm(60);
      the_options.purge_delay_ms = 2;
      const std::size_t before = purged_bytes();
      void* const block = heapwise_malloc(std::size_t{64} << 20);
      std::memset(block, 1, std::size_t{64} << 20);
      heapwise_free(block);
      while (purged_bytes() < before + (std::size_t{64} << 20)) std::this_thread::yield();
      ::_exit(0);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    if (status != 0) std::_Exit(1);
  });
  CHECK(how.exit_code == 0);
}

} // namespace
