// The heap on a system that refuses: the n-th call of the system fails, for each n that a scene
// comes to, once or from then on (SQLite's tests of lack of memory are the model). And on systems
// with larger pages. Every scene has a process of its own, forked before the heap begins.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "faulty/signed_blocks.hpp"
#include "faulty/system.hpp"
#include "threads.hpp"

namespace {

using namespace faulty;

void large_blocks() {
  std::vector<kept_block> all;
  stress::random draw{2};
  for (int i = 0; i < 30; ++i) {
    const std::size_t size = 1 + draw.below(3'000'000);
    errno = 0;
    keep(all,
         i % 3 == 0 ? heapwise_aligned_alloc(std::size_t{1} << (6 + i % 12), size)
                    : heapwise_malloc(size),
         size);
  }
  free_all(all);
}

/// Growing and shrinking: in place, by copying, by moving pages.
void resized_blocks() {
  std::vector<kept_block> all;
  stress::random draw{3};
  for (int i = 0; i < 12; ++i) {
    const std::size_t size = 1 + draw.below(i % 2 == 0 ? 900'000 : 5'000);
    errno = 0;
    keep(all, heapwise_malloc(size), size);
  }
  for (int turn = 0; turn < 4; ++turn) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::size_t wanted = turn % 2 == 0 ? all[i].size * 3 : all[i].size / 2 + 1;
      errno = 0;
      void* const new_block = heapwise_realloc(all[i].bytes, wanted);
      if (new_block == nullptr) {
        EXPECT(errno == ENOMEM);
        continue; // what was there stays, and free_all looks
      }
      all[i].bytes = static_cast<unsigned char*>(new_block);
      expect_signed(all[i], i, std::min(all[i].size, wanted));
      all[i].size = wanted;
      std::memset(new_block, static_cast<int>(i % 251), wanted);
    }
  }
  free_all(all);
}

void given_back_and_taken_again() {
  for (int turn = 0; turn < 3; ++turn) {
    small_blocks();
    heapwise_malloc_purge();
    void* const zeroes = heapwise_calloc(1, 700'000);
    if (zeroes == nullptr) continue;
    for (std::size_t i = 0; i < 700'000; i += 501) {
      EXPECT(static_cast<unsigned char*>(zeroes)[i] == 0);
    }
    std::memset(zeroes, 7, 700'000);
    heapwise_free(zeroes);
  }
}

void a_thread_and_a_heap() {
  std::thread{small_blocks}.join();
  if (heapwise_heap* const heap = heapwise_heap_create(); heap != nullptr) {
    for (std::size_t i = 0; i < 300; ++i) {
      void* const block = heapwise_heap_malloc(heap, i * 37);
      if (block != nullptr) std::memset(block, 1, i * 37);
    }
    heapwise_heap_destroy(heap);
  }
}

struct scene {
  const char* name;
  void (*play)();
};
constexpr std::array scenes{scene{"small blocks", small_blocks},
                            scene{"large blocks", large_blocks},
                            scene{"resized blocks", resized_blocks},
                            scene{"given back and taken again", given_back_and_taken_again},
                            scene{"a thread and a heap", a_thread_and_a_heap}};

struct outcome {
  int status = -1;
  long calls = 0; // of the system, while the scene was played with faults
  long kib = 0;   // of addresses at the end
};

/// Plays the scene with the faults, then without, in a process of its own.
outcome play(const scene& chosen, long fail_from, bool for_good, std::size_t page_bytes = 0) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    plan.page_bytes = page_bytes;
    plan.for_good = for_good;
    plan.fail_from = fail_from;
    chosen.play();
    outcome told{0, plan.calls, 0};
    plan.fail_from = 0;
    void* const after = heapwise_malloc(100'000);
    EXPECT(after != nullptr);
    heapwise_free(after);
    chosen.play();
    told.kib = kib_of_process().addresses;
    ::_exit(::write(ends[1], &told, sizeof told) == sizeof told ? 0 : 2);
  }
  ::close(ends[1]);
  outcome told;
  const bool whole = ::read(ends[0], &told, sizeof told) == sizeof told;
  ::close(ends[0]);
  REQUIRE(::waitpid(child, &told.status, 0) == child);
  REQUIRE(whole == (told.status == 0));
  return told;
}

constexpr long reserved_kib = 1L << 30; // 1 TiB, and a twelfth for the tables

/// The first calls one by one, then ever fewer: a scene makes its mistakes early.
long after_call(long n) { return n < 24 ? n + 1 : n + n / 6; }

TEST_CASE("each call of the system may fail" * doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  for (const scene& each : scenes) {
    CAPTURE(std::string{each.name});
    const outcome well = play(each, 0, false);
    REQUIRE(well.status == 0);
    REQUIRE(well.calls > 0);
    for (const bool for_good : {false, true}) {
      CAPTURE(for_good);
      for (long n = 1; n <= well.calls; n = after_call(n)) {
        CAPTURE(n);
        const outcome result = play(each, n, for_good);
        REQUIRE(result.status == 0);
        // What a failure left behind must not be lost for ever. The heap grows in steps of 4 MiB;
        // if the first call fails, it reserves all of its range.
        const bool reserved = result.kib > reserved_kib;
        CHECK(result.kib <= well.kib + 8192 + (reserved ? reserved_kib + reserved_kib / 12 : 0));
      }
    }
  }
}

TEST_CASE("pages of 16 KiB and of 64 KiB" * doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  for (const std::size_t page : {std::size_t{16} << 10, std::size_t{64} << 10}) {
    CAPTURE(page);
    for (const scene& each : scenes) {
      CAPTURE(std::string{each.name});
      const outcome well = play(each, 0, false, page);
      REQUIRE(well.status == 0);
      for (long n = 1; n <= well.calls; n = after_call(n) * 2) {
        CAPTURE(n);
        REQUIRE(play(each, n, true, page).status == 0);
      }
    }
  }
}

} // namespace
