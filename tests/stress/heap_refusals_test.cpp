// The heap where the system refuses one kind of call for long: threads, pages that do not go back,
// mappings beyond the most that a process may have. And a fork beside the start of the heap.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <heapwise/malloc.h>

#include "faulty/signed_blocks.hpp"
#include "faulty/system.hpp"
#include "heap/central/batches.hpp"
#include "heap/space/relocation.hpp"
#include "os/os.hpp"
#include "threads.hpp"

namespace os = heapwise::os;

namespace {

using namespace faulty;

std::size_t purged_so_far() {
  heapwise_malloc_statistics now;
  heapwise_malloc_statistics_get(&now);
  return now.purged_bytes;
}

void free_mib(std::size_t mib) {
  void* const block = heapwise_malloc(mib << 20);
  EXPECT(block != nullptr);
  std::memset(block, 1, mib << 20);
  heapwise_free(block);
}

TEST_CASE("a thread that is refused is asked for again" * doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    ::setenv("HEAPWISE_MALLOC_PURGE_DELAY_MS", "2", 1);
    plan.threads_to_refuse = 3;
    free_mib(32);
    EXPECT(plan.threads_to_refuse == 2);
    // Not at each call, which would cost each of them a call of the system.
    free_mib(1);
    EXPECT(plan.threads_to_refuse == 2);
    for (int call = 0; call < 1000; ++call) heapwise_free(heapwise_malloc(100'000));
    EXPECT(plan.threads_to_refuse == 0);
    while (purged_so_far() < std::size_t{30} << 20) std::this_thread::yield();
  });
}

std::ptrdiff_t threads_of_process() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return std::distance(begin(tasks), end(tasks));
}

TEST_CASE("pages that are never taken back, as under mlockall, are not offered again and again" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    ::setenv("HEAPWISE_MALLOC_PURGE_DELAY_MS", "2", 1);
    plan.refuse_purges = true;
    std::vector<void*> kept;
    std::vector<void*> freed;
    for (int i = 0; i < 32 << 10; ++i) {
      (i % 8 == 0 ? kept : freed).push_back(heapwise_malloc(1000)); // two pages, half a page
    }
    for (void* each : freed) heapwise_free(each);
    free_mib(16);
    while (plan.purges == 0) std::this_thread::yield();
    while (threads_of_process() > 1) std::this_thread::yield();
    EXPECT(plan.purges < 100);
    plan.refuse_purges = false;
    EXPECT(heapwise_malloc_purge() > std::size_t{20} << 20);
  });
}

constexpr std::size_t mib = std::size_t{1} << 20;

/// Effects: frees 64 MiB of which some are locked in memory. Returns: whether they could be locked.
bool free_partly_locked(std::size_t locked_bytes) {
  auto* const block = static_cast<std::byte*>(heapwise_malloc(64 * mib));
  EXPECT(block != nullptr);
  std::memset(block, 1, 64 * mib);
  const bool locked = ::mlock(block + 10 * mib, locked_bytes) == 0; // the system limits how much
  heapwise_free(block);
  return locked;
}

TEST_CASE("free memory goes back although a page in its middle is locked" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    ::setenv("HEAPWISE_MALLOC_PURGE_THREAD", "0", 1);
    if (!free_partly_locked(1)) return;
    EXPECT(heapwise_malloc_purge() > 63 * mib);
  });
}

TEST_CASE("the purging thread ends although some free memory is locked" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    ::setenv("HEAPWISE_MALLOC_PURGE_DELAY_MS", "2", 1);
    if (!free_partly_locked(4 * mib)) return;
    while (purged_so_far() < 59 * mib) std::this_thread::yield();
    while (threads_of_process() > 1) std::this_thread::yield();
  });
}

/// Effects: leaves this many free bytes side by side, all of them resident. Returns: where.
void* make_room(std::size_t bytes) {
  void* const block = heapwise_malloc(bytes);
  EXPECT(block != nullptr);
  std::memset(block, 1, bytes);
  heapwise_free(block);
  return block;
}

/// Returns: a resident block of 8 MiB with another one behind it: it has to move to grow.
void* make_wedged_block() {
  void* const block = heapwise_malloc(8 * mib);
  void* const behind = heapwise_malloc(mib);
  EXPECT(block != nullptr && behind == static_cast<std::byte*>(block) + 8 * mib);
  std::memset(block, 1, 8 * mib);
  return block;
}

/// Returns: a block of 64 MiB to whose place pages were moved, all of them of one mapping.
void* make_moved_block() {
  EXPECT(heapwise_malloc(4 * mib) != nullptr); // the first of the heap's are in small pages
  void* const block = make_wedged_block();
  void* const new_block = heapwise_realloc(block, 64 * mib);
  EXPECT(new_block != nullptr && new_block != block);
  EXPECT(heapwise::detail::count_pieces() == 1);
  return new_block;
}

/// Effects: lets the block grow to 64 MiB, frees it, and purges. Expects that its contents are
/// whole, and that nothing more is resident afterwards. Returns: where it has grown.
void* grow_and_free(void* block, std::atomic<bool>& fault) {
  fault = true;
  auto* const new_block = static_cast<unsigned char*>(heapwise_realloc(block, 64 * mib));
  fault = false;
  EXPECT(new_block != nullptr && new_block != block);
  for (std::size_t i = 0; i < 8 * mib; i += 501) EXPECT(new_block[i] == 1);
  heapwise_free(new_block);
  heapwise_malloc_purge();
  return new_block;
}

/// Expects that not much more is resident than these KiB.
void expect_resident(long kib) { EXPECT(kib_of_process().resident < kib + (32 << 10)); }

TEST_CASE("a block is freed while the process has too many mappings" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    const long resident_kib = kib_of_process().resident;
    void* const block = make_moved_block();
    std::memset(block, 2, 64 * mib);
    plan.refuse_mappings = true;
    heapwise_free(block);
    plan.refuse_mappings = false;
    heapwise_malloc_purge();
    expect_resident(resident_kib);
    EXPECT(heapwise_malloc(64 * mib) == block);
  });
}

TEST_CASE("a block is freed while the process has too many mappings, locked in memory" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    void* const block = make_moved_block();
    plan.refuse_mappings = plan.refuse_purges = true;
    heapwise_free(block);
    plan.refuse_mappings = plan.refuse_purges = false;
    EXPECT(heapwise_malloc(64 * mib) == block);
  });
}

TEST_CASE("a block moves while the process has too many mappings" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    const long resident_kib = kib_of_process().resident;
    void* const block = make_wedged_block();
    void* const room = make_room(200 * mib);
    EXPECT(grow_and_free(block, plan.refuse_mappings) == room);
    expect_resident(resident_kib);
    EXPECT(heapwise_malloc(64 * mib) == room);
  });
}

TEST_CASE("the heap grows while the process has too many mappings" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    void* const first = heapwise_malloc(mib);
    EXPECT(first != nullptr);
    if (os::map_at(static_cast<std::byte*>(first) + 4096 * mib, mib) != os::placed::here) return;
    plan.refuse_mappings = true;
    for (int turn = 0; turn < 4; ++turn) {
      EXPECT(make_room(100 * mib) != nullptr);
      small_blocks();
      EXPECT(heapwise_malloc(70 * mib) != nullptr);
    }
    EXPECT(heapwise_malloc(1100 * mib) != nullptr);
    // The memory that the heap has grown by is like the memory that it had before.
    plan.refuse_mappings = false;
    EXPECT(heapwise_malloc(100 * mib) != nullptr);
    heapwise_malloc_purge();
  });
}

TEST_CASE("the memory of batches goes back while the process has too many mappings" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    using namespace heapwise::detail;
    constexpr size_class small = 1;
    std::vector<batch*> all(2000);
    const auto use = [&] {
      for (batch*& each : all) {
        each = new_batch(small);
        EXPECT(each != nullptr);
        std::memset(each->blocks(), 1, class_table[small].batch * sizeof(std::byte*));
      }
      for (batch* each : all) delete_batch(each, small);
    };
    use();
    trim_batches();
    const long before = kib_of_process().resident;
    const auto unused_kib = static_cast<long>(unused_batch_bytes() / 1024);
    EXPECT(unused_kib > 1000);
    plan.refuse_unmaps = true;
    EXPECT(trim_batches() == 0);
    // The first page of each piece says which is next.
    if (os::page_bytes() <= 16384) EXPECT(kib_of_process().resident < before - unused_kib / 2);
    use(); // it can still be used
    plan.refuse_unmaps = false;
    trim_batches();
    EXPECT(trim_batches() > 0);
    EXPECT(unused_batch_bytes() == 0);
  });
}

TEST_CASE("a place at which the system refuses to map anything is not resident" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    const long resident_kib = kib_of_process().resident;
    void* const block = make_wedged_block();
    void* const room = make_room(200 * mib);
    EXPECT(grow_and_free(block, plan.spoil_places) != room);
    expect_resident(resident_kib);
  });
}

TEST_CASE("a lost place does not count as pieces" * doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    void* const block = make_moved_block();
    plan.spoil_places = true;
    heapwise_free(block);
    plan.spoil_places = false;
    EXPECT(heapwise::detail::count_pieces() == 0);
    EXPECT(heapwise_malloc(64 * mib) != block);
  });
}

TEST_CASE("a fork waits for a thread that starts the heap" * doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    plan.fork_during_start = true;
    std::thread first{[] { heapwise_free(heapwise_malloc(100)); }};
    while (!plan.is_starting) std::this_thread::yield();
    plan.is_forking = true;
    const pid_t child = ::fork();
    EXPECT(child >= 0);
    if (child == 0) {
      ::alarm(60);
      small_blocks();
      ::_exit(0);
    }
    int status = -1;
    EXPECT(::waitpid(child, &status, 0) == child);
    EXPECT(status == 0);
    first.join();
  });
}

} // namespace
