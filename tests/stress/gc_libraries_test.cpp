// Libraries that come and go, and threads that use them for the first time, while others collect.
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "../unit/gc/libraries.hpp"
#include "../unit/gc/surroundings.hpp"

using gc_test::library;

namespace {

constexpr std::chrono::microseconds pause{200};

/// Effects: the thread's variable of the library holds a block with a number, and nothing else
/// does.
[[gnu::noinline]] bool keep_number(const library& in, std::uintptr_t number) {
  auto* const block = static_cast<std::uintptr_t*>(heapwise_gc_malloc(64));
  if (block == nullptr) return false;
  block[1] = number;
  in.keep_in_thread(block);
  return true;
}

bool holds_number(const library& in, std::uintptr_t number) {
  return static_cast<const std::uintptr_t*>(in.kept_in_thread())[1] == number;
}

/// Effects: waits until another thread has collected, and takes what was found free.
void let_others_collect() {
  const std::size_t before = gc_test::statistics().collections;
  while (gc_test::statistics().collections < before + 2) std::this_thread::yield();
  for (int each = 0; each < 500; ++each) {
    static_cast<std::uintptr_t*>(heapwise_gc_malloc(64))[1] = ~std::uintptr_t{0};
  }
}

/// Effects: loads libraries, uses them and unloads them again.
/// Returns: whether all blocks were kept.
bool load_and_unload(std::uintptr_t seed, int rounds) {
  bool whole = true;
  for (int round = 0; round < rounds; ++round) {
    const library small{HEAPWISE_GC_PLUGIN};
    const library large{HEAPWISE_GC_PLUGIN_LARGE};
    whole = whole && keep_number(small, seed) && keep_number(large, seed + 1);
    let_others_collect();
    whole = whole && holds_number(small, seed) && holds_number(large, seed + 1);
  }
  return whole;
}

/// Effects: collects until all threads have raised `done`.
void collect_until(const std::atomic<std::size_t>& done, std::size_t threads) {
  while (done.load() < threads) {
    heapwise_gc_collect();
    std::this_thread::sleep_for(pause); // the loader's lock is not fair
  }
}

} // namespace

TEST_CASE("threads load, use and unload libraries while another collects all the time" *
          doctest::skip(HEAPWISE_SKIP_STOPS || HEAPWISE_EMULATED)) {
  heapwise_gc_init(nullptr);
  constexpr std::size_t threads = 4;
  std::atomic<std::size_t> done{0};
  std::atomic<int> whole{0};
  std::vector<std::thread> all;
  for (std::size_t each = 0; each + 1 < threads; ++each) {
    all.emplace_back([&, each] {
      heapwise_gc_register_thread();
      whole += load_and_unload(10 * each + 1, 60) ? 1 : 0;
      heapwise_gc_unregister_thread();
      ++done;
    });
  }
  all.emplace_back([&] { // is not registered: it is never stopped
    for (int round = 0; round < 100; ++round) {
      library{HEAPWISE_GC_PLUGIN_LARGE}.keep_in_thread(nullptr);
    }
    ++done;
  });
  collect_until(done, threads);
  for (std::thread& each : all) each.join();
  CHECK(whole == static_cast<int>(threads - 1));
}

TEST_CASE("threads whose tables of libraries grow keep their blocks while another collects" *
          doctest::skip(HEAPWISE_SKIP_STOPS)) {
  heapwise_gc_init(nullptr);
  constexpr std::size_t threads = 3;
  std::atomic<int> whole{0};
  for (int round = 0; round < 15; ++round) {
    std::atomic<std::size_t> done{0};
    std::atomic<bool> loaded{false};
    std::vector<library> plugins;
    std::vector<std::thread> all;
    for (std::size_t thread = 0; thread < threads; ++thread) {
      all.emplace_back([&, thread] {
        heapwise_gc_register_thread();
        loaded.wait(false);
        bool kept = true;
        for (std::size_t each = 0; each < plugins.size(); ++each) {
          kept = kept && keep_number(plugins[each], 1000 * thread + each);
        }
        let_others_collect();
        for (std::size_t each = 0; each < plugins.size(); ++each) {
          kept = kept && holds_number(plugins[each], 1000 * thread + each);
        }
        whole += kept ? 1 : 0;
        heapwise_gc_unregister_thread();
        ++done;
      });
    }
    for (int each = 0; each < 40; ++each) plugins.emplace_back(HEAPWISE_GC_PLUGIN);
    loaded.store(true);
    loaded.notify_all();
    collect_until(done, threads);
    for (std::thread& each : all) each.join();
  }
  CHECK(whole == 15 * static_cast<int>(threads));
}
