// Where addresses are found: libraries that are loaded while the collector runs, variables of
// threads, keys, registers; and what becomes of it all in a forked child.
#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <thread>

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <link.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gc/surroundings.hpp"

using gc_test::elsewhere;
using gc_test::hidden;
using gc_test::survived;

namespace {

thread_local void* volatile of_this_thread;

/// Returns: a block that nothing holds but what `keep` does with it.
template <class Keep>
hidden block_kept_by(Keep keep) {
  hidden block;
  elsewhere([&] {
    void* const memory = heapwise_gc_malloc(80);
    keep(memory);
    block = hidden{memory};
    for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
  });
  return block;
}

template <class Body>
int status_of_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(60); // a child that waits for ever fails
    std::signal(SIGABRT, SIG_DFL);
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

/// A registered thread that keeps a block, in its own way, while others collect.
template <class Keep>
void check_thread_keeps(Keep keep) {
  std::atomic<int> step{0};
  hidden block;
  std::thread other{[&] {
    heapwise_gc_register_thread();
    keep(
        [&] {
          void* const memory = heapwise_gc_malloc(80);
          block = hidden{memory};
          return memory;
        },
        [&] {
          for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
          step.store(1);
          step.notify_one();
          step.wait(1); // blocked: it has to be interrupted
        });
    heapwise_gc_unregister_thread();
  }};
  step.wait(0);
  heapwise_gc_collect();
  CHECK(survived(block));
  step.store(2);
  step.notify_one();
  other.join();
  heapwise_gc_collect();
  CHECK_FALSE(survived(block));
}

} // namespace

TEST_CASE("variables of a library that is loaded later are roots") {
  heapwise_gc_init(nullptr);
  heapwise_gc_collect();
  void* const library = ::dlopen(HEAPWISE_GC_PLUGIN, RTLD_NOW);
  REQUIRE(library != nullptr);
  auto* const keep = reinterpret_cast<void (*)(void*)>(::dlsym(library, "plugin_keep"));
  auto* const keep_in_thread =
      reinterpret_cast<void (*)(void*)>(::dlsym(library, "plugin_keep_in_thread"));
  const hidden in_static = block_kept_by([&](void* block) { keep(block); });
  hidden in_thread_local = block_kept_by([&](void* block) { of_this_thread = block; });
  in_thread_local = hidden{heapwise_gc_malloc(80)};
  keep_in_thread(in_thread_local.shown());
  for (int each = 0; each < 200; ++each) static_cast<void>(heapwise_gc_malloc(80));
  heapwise_gc_collect();
  CHECK(survived(in_static));
  CHECK(survived(in_thread_local));
  keep(nullptr);
  heapwise_gc_collect();
  CHECK_FALSE(survived(in_static));
  ::dlclose(library);
  heapwise_gc_collect(); // its variables are gone
}

TEST_CASE("another thread's stack is a root, while it is blocked" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  check_thread_keeps([](auto make, auto wait) {
    [[maybe_unused]] void* volatile on_stack = make();
    wait();
    on_stack = nullptr;
  });
}

TEST_CASE("another thread's variables are roots" * doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  check_thread_keeps([](auto make, auto wait) {
    of_this_thread = make();
    wait();
    of_this_thread = nullptr;
  });
}

TEST_CASE("values of pthread keys are roots, those with high numbers too" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  std::array<pthread_key_t, 100> keys{};
  for (pthread_key_t& each : keys) REQUIRE(::pthread_key_create(&each, nullptr) == 0);
  for (const pthread_key_t each : {keys[0], keys[99]}) {
    check_thread_keeps([each](auto make, auto wait) {
      ::pthread_setspecific(each, make());
      wait();
      ::pthread_setspecific(each, nullptr);
    });
  }
  for (const pthread_key_t each : keys) ::pthread_key_delete(each);
}

TEST_CASE("the first thread's variables are roots for a collection in another" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  const hidden block = block_kept_by([](void*) {});
  of_this_thread = block.shown();
  elsewhere([] { heapwise_gc_collect(); });
  CHECK(survived(block));
  of_this_thread = nullptr;
}

TEST_CASE("a thread that comes while another collects gets no block that was given away") {
  heapwise_gc_init(nullptr);
  elsewhere([] { static_cast<void>(heapwise_gc_malloc(48)); }); // leaves more of them, for the next
  std::atomic<int> coming{0};
  std::size_t usable_bytes = 0;
  std::thread next{[&] {
    coming.wait(0);
    heapwise_gc_register_thread(); // has to wait for the loader's lock
    usable_bytes = heapwise_gc_usable_size(heapwise_gc_malloc(48));
    heapwise_gc_unregister_thread();
  }};
  const auto with_lock_of_loader = [](dl_phdr_info*, std::size_t, void* argument) {
    auto& step = *static_cast<std::atomic<int>*>(argument);
    step.store(1);
    step.notify_one();
    std::this_thread::sleep_for(std::chrono::milliseconds{50});
    heapwise_gc_collect();
    for (int each = 0; each < 2000; ++each) static_cast<void>(heapwise_gc_malloc(208));
    return 1;
  };
  ::dl_iterate_phdr(with_lock_of_loader, &coming);
  next.join();
  CHECK(usable_bytes == 48);
}

TEST_CASE("a forked child goes on with its own thread, and collects" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  std::atomic<int> step{0};
  std::thread other{[&] { // the child has no such thread to stop
    heapwise_gc_register_thread();
    step.store(1);
    step.notify_one();
    step.wait(1);
  }};
  step.wait(0);
  auto** const kept = static_cast<void**>(heapwise_gc_malloc(64));
  *kept = heapwise_gc_malloc(64);
  const int status = status_of_child([&] {
    for (int each = 0; each < 200'000; ++each) {
      auto** const more = static_cast<void**>(heapwise_gc_malloc(64));
      *more = more;
    }
    heapwise_gc_collect();
    if (*kept == nullptr || gc_test::statistics().threads != 1) ::_exit(1);
    if (gc_test::statistics().collections < 2) ::_exit(2);
    if (heapwise::gc::the_gc.threads->next != nullptr) ::_exit(3);
  });
  CHECK(status == 0);
  heapwise_gc_collect();
  step.store(2);
  step.notify_one();
  other.join();
}

TEST_CASE("a thread that ends without a word is forgotten") {
  heapwise_gc_init(nullptr);
  const std::size_t before = gc_test::statistics().threads;
  std::thread{[] {
    heapwise_gc_register_thread();
    static_cast<void>(heapwise_gc_malloc(16));
  }}.join();
  CHECK(gc_test::statistics().threads == before);
  heapwise_gc_collect();
}

TEST_CASE("a thread that is not registered is told so") {
  heapwise_gc_init(nullptr);
  const int status = status_of_child(
      [] { std::thread{[] { static_cast<void>(heapwise_gc_malloc(16)); }}.join(); });
  CHECK(WIFSIGNALED(status));
  CHECK(WTERMSIG(status) == SIGABRT);
}

TEST_CASE("static data that is excluded keeps nothing, until it is included again") {
  heapwise_gc_init(nullptr);
  static std::array<void*, 8> words;
  const auto blocks_kept = [] {
    std::array<hidden, words.size()> blocks;
    for (std::size_t each = 0; each < words.size(); ++each) {
      blocks[each] = block_kept_by([each](void* block) { words[each] = block; });
    }
    heapwise_gc_collect();
    unsigned kept = 0;
    for (std::size_t each = 0; each < words.size(); ++each) {
      kept |= survived(blocks[each]) ? 1U << each : 0U;
    }
    return kept;
  };
  REQUIRE(heapwise_gc_exclude_roots(&words[2], &words[4]) == 0);
  REQUIRE(heapwise_gc_exclude_roots(&words[3], &words[5]) == 0);
  REQUIRE(heapwise_gc_exclude_roots(&words[7], &words[7] + 1) == 0);
  CHECK(blocks_kept() == 0b0110'0011);
  heapwise_gc_include_roots(&words[3], &words[5]);
  CHECK(blocks_kept() == 0b0111'0011);
  REQUIRE(heapwise_gc_add_roots(&words[2], &words[3]) == 0); // counts all the same
  CHECK(blocks_kept() == 0b0111'0111);
  heapwise_gc_include_roots(&words[2], &words[4]);
  heapwise_gc_include_roots(&words[7], &words[7] + 1);
  heapwise_gc_include_roots(&words[7], &words[7] + 1); // no longer excluded: does nothing
  CHECK(blocks_kept() == 0b1111'1111);
}
