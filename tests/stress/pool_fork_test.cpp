// Forks in the middle of what other threads do: the child may use, create and destroy pools.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <heapwise/heapwise.hpp>

#include "contract/hybrids.hpp"
#include "drain.hpp"
#include "os/os.hpp"
#include "threads.hpp"

/// The runtime of the address sanitizer (clang 19) does not take the lock of its quarantine before
/// a fork. If another thread of the parent held it, a thread of the child spins for ever when it
/// ends. Without a quarantine, only a thread that ends takes the lock. No thread ends during the
/// forks.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "quarantine_size_mb=0:thread_local_quarantine_size_kb=0";
}

namespace {

using cached = heapwise::pool<heapwise::thread_cached>;

/// Effects: forks, calls body() in the child, which then ends. Kills a child that hangs.
/// Returns: true if the child ended with 0.
template <class Body>
bool child_ends_well(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    for (const int each : {SIGABRT, SIGSEGV, SIGBUS}) std::signal(each, SIG_DFL);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    body();
    ::_exit(0);
  }
  const auto patience = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > patience) ::kill(child, SIGKILL);
    std::this_thread::sleep_for(std::chrono::microseconds{200});
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// For children, where a failed CHECK of the test's framework would go unheard.
void demand(bool holds) {
  if (!holds) ::_exit(1);
}

/// Threads that call body(index) again and again until the object is destroyed.
class busy_threads {
 public:
  template <class Body>
  busy_threads(std::size_t count, const Body& body) {
    for (std::size_t i = 0; i < count; ++i) {
      threads_.emplace_back([this, body, i] {
        while (!stop_) body(i);
      });
    }
  }
  busy_threads(const busy_threads&) = delete;
  busy_threads& operator=(const busy_threads&) = delete;
  ~busy_threads() {
    stop_ = true;
    for (std::thread& each : threads_) each.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::vector<std::thread> threads_{};
};

using stress::drain;

template <class Pool>
void use(Pool& blocks, std::size_t count) {
  std::vector<void*> mine;
  for (std::size_t i = 0; i < count; ++i) {
    if (void* const block = blocks.try_allocate(); block != nullptr) mine.push_back(block);
  }
  for (void* const block : mine) blocks.deallocate(block);
}

TEST_CASE("children end while another thread of the parent creates and destroys pools" *
          doctest::skip(HEAPWISE_SKIP_FORK)) {
  cached blocks{{.block_size = 64, .block_count = 1000}};
  use(blocks, 1);
  const busy_threads others{1, [](std::size_t) {
                              cached passing{{.block_size = 64, .block_count = 64}};
                              use(passing, 1);
                            }};
  for (std::size_t i = 0; i < stress::scaled(200); ++i) {
    REQUIRE(child_ends_well([] {
      cached passing{{.block_size = 64, .block_count = 64}};
      use(passing, 1);
      if (!HEAPWISE_LOOKS_FOR_LEAKS) std::exit(0); // as the end of a thread
    }));
  }
}

TEST_CASE("a child destroys a pool of which threads that it does not have held caches" *
          doctest::skip(HEAPWISE_SKIP_FORK)) {
  constexpr std::size_t threads = 8;
  auto blocks =
      std::make_unique<cached>(heapwise::pool_options{.block_size = 64, .block_count = 1 << 16});
  std::atomic<std::size_t> ready{0};
  std::atomic<bool> done{false};
  std::vector<std::thread> holders;
  for (std::size_t i = 0; i < threads; ++i) {
    holders.emplace_back([&] {
      use(*blocks, 300);
      ++ready;
      done.wait(false);
    });
  }
  while (ready < threads) std::this_thread::yield();
  for (std::size_t new_threads = 0; new_threads < 4; ++new_threads) {
    CHECK(child_ends_well([&] {
      // They may get the stacks of those that are gone, and tables at the same addresses.
      for (std::size_t i = 0; i < new_threads; ++i) {
        std::thread{[&] { use(*blocks, 100); }}.join();
      }
      blocks.reset();
    }));
  }
  done = true;
  done.notify_all();
  for (std::thread& each : holders) each.join();
  CHECK(drain(*blocks).size() == std::size_t{1} << 16);
}

TEST_CASE("in a child only blocks of caches of threads that it does not have are lost" *
          doctest::skip(HEAPWISE_SKIP_FORK)) {
  constexpr std::size_t count = 5000;
  constexpr std::size_t threads = 4;
  cached blocks{{.block_size = 32, .block_count = count}};
  std::vector<void*> out;
  for (int i = 0; i < 500; ++i) out.push_back(blocks.allocate());
  {
    const busy_threads others{threads, [&](std::size_t) { use(blocks, 50); }};
    for (std::size_t i = 0; i < stress::scaled(50); ++i) {
      REQUIRE(child_ends_well([&] {
        std::vector<void*> all = drain(blocks);
        // Each holds at most its cache, and 50 that it has allocated.
        demand(all.size() + out.size() + threads * (600 + 50) >= count);
        all.insert(all.end(), out.begin(), out.end());
        demand(std::set<void*>{all.begin(), all.end()}.size() == all.size());
        for (void* const block : all) demand(blocks.deallocate(block));
        std::thread{[&] { demand(drain(blocks).size() >= all.size() - 600); }}.join();
        blocks.reset();
        demand(drain(blocks).size() == count);
      }));
    }
  }
  for (void* const block : out) blocks.deallocate(block);
  CHECK(drain(blocks).size() == count);
}

/// A source that stops in the middle of a request until it is told to go on.
class stopping_blocks final : public heapwise::block_source {
 public:
  void* allocate(std::size_t size_bytes, std::size_t alignment) noexcept override {
    void* const memory = heapwise::os_blocks().allocate(size_bytes, alignment);
    if (stops) {
      inside = true;
      inside.notify_all();
      goes_on.wait(false);
    }
    return memory;
  }
  void deallocate(void* memory, std::size_t size_bytes, std::size_t alignment) noexcept override {
    heapwise::os_blocks().deallocate(memory, size_bytes, alignment);
  }

  bool stops = false;
  std::atomic<bool> inside{false};
  std::atomic<bool> goes_on{false};
};

/// Effects: lets a thread stop while it grows a pool, prepares a fork, and lets the pool grow in a
/// child. Returns: whether it could, and the thread's growth was whole.
template <class Prepare>
bool child_grows_pool(const Prepare& prepare) {
  stopping_blocks source;
  heapwise::pool<heapwise::lock_free> blocks{
      {.block_size = 64, .block_count = 10, .growth = heapwise::growth::geometric}, source};
  for (int i = 0; i < 10; ++i) REQUIRE(blocks.try_allocate() != nullptr);
  source.stops = true;
  bool grown = false;
  std::thread grower{[&] { grown = blocks.try_allocate() != nullptr; }};
  source.inside.wait(false);
  prepare();
  const bool ended_well = child_ends_well([&] {
    source.stops = false;
    for (int i = 0; i < 100; ++i) demand(blocks.try_allocate() != nullptr);
    std::thread{[&] {
      for (int i = 0; i < 100; ++i) demand(blocks.try_allocate() != nullptr);
    }}.join();
  });
  source.goes_on = true;
  source.goes_on.notify_all();
  grower.join();
  return ended_well && grown;
}

TEST_CASE("a lock-free pool grows in a child though a thread of the parent was growing it" *
          doctest::skip(HEAPWISE_SKIP_FORK)) {
  CHECK(child_grows_pool([] {}));
}

TEST_CASE("a lock-free pool grows in a child that has the same number as its parent" *
          doctest::skip(HEAPWISE_SKIP_FORK)) {
  // Where no page can be wiped by forks, as under an emulator, processes are told by their numbers.
  if (heapwise::os::memory_number() == static_cast<std::uint32_t>(::getpid())) return;
  // The first process of a namespace has the number 1.
  CHECK(child_ends_well([] {
    if (::unshare(CLONE_NEWPID) != 0) return; // only root may
    demand(child_ends_well([] {
      demand(::getpid() == 1);
      demand(child_grows_pool([] { demand(::unshare(CLONE_NEWPID) == 0); }));
    }));
  }));
}

TEST_CASE_TEMPLATE("children of a research allocator that all threads use", Heap,
                   CONTRACT_HYBRIDS) {
  if (HEAPWISE_SKIP_FORK) return;
  auto heap = std::make_unique<Heap>();
  const auto work = [&heap](std::size_t seed) {
    stress::random draw{seed};
    std::vector<void*> mine;
    const typename Heap::scope ends{*heap};
    for (int i = 0; i < 60; ++i) mine.push_back(heap->allocate(1 + draw.below(9000)));
    for (int i = 0; i < 40; ++i) heap->deallocate(mine[static_cast<std::size_t>(i)]);
  };
  {
    const busy_threads others{3, work};
    for (std::size_t i = 0; i < stress::scaled(20); ++i) {
      REQUIRE(child_ends_well([&] {
        work(i);
        std::thread{[&] { work(i + 1); }}.join();
        demand(heap->statistics().reserved_bytes != 0);
        if (i % 2 == 0) heap->reset();
        work(i + 2);
        heap.reset();
      }));
    }
  }
  work(1);
}

} // namespace
