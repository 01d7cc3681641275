// The heap on a system that refuses: the n-th call of the system fails, for each n that a scene
// comes to, once or from then on (SQLite's tests of lack of memory are the model). And on systems
// with larger pages. Every scene has a process of its own, forked before the heap begins.
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

#include "heap/batches.hpp"
#include "heap/relocation.hpp"
#include "os/os.hpp"
#include "threads.hpp"

namespace os = heapwise::os;

namespace {

/// Which calls of the system fail. Atomic for the thread that the heap may start.
struct fault_plan {
  std::atomic<long> calls{0};
  std::atomic<long> fail_from{0}; // 0: none fails
  std::atomic<bool> for_good{false};
  std::atomic<std::size_t> page_bytes{0}; // 0: the system's own
  std::atomic<long> threads_to_refuse{0};
  std::atomic<bool> refuse_purges{false};
  std::atomic<bool> refuse_unmaps{false};
  std::atomic<bool> refuse_mappings{false}; // as if the process had as many as it may have
  std::atomic<bool> spoil_places{false}; // a failure unmaps the place, and nothing can come to it
  std::atomic<long> purges{0};
  std::atomic<bool> fork_during_start{false};
  std::atomic<bool> is_starting{false};
  std::atomic<bool> is_forking{false};

  bool next_fails() noexcept {
    const long now = ++calls;
    const long from = fail_from;
    return from != 0 && (for_good ? now >= from : now == from);
  }
};
fault_plan plan;

} // namespace

// The linker sends the heap's calls of the system here (--wrap), and ours to the system.
void* real_map(std::size_t, std::size_t) noexcept __asm__("__real__ZN8heapwise2os3mapEmm");
bool real_unmap(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os5unmapEPvm");
void* real_reserve(std::size_t, std::size_t) noexcept __asm__("__real__ZN8heapwise2os7reserveEmm");
os::placed real_map_at(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os6map_atEPvm");
bool real_extend(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os14extend_mappingEPvm");
os::placed real_reserve_at(void*, std::size_t) noexcept
    __asm__("__real__ZN8heapwise2os10reserve_atEPvm");
bool real_commit(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os6commitEPvm");
bool real_purge(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os5purgeEPvm");
bool real_renew(void*, std::size_t) noexcept __asm__("__real__ZN8heapwise2os5renewEPvm");
bool real_move(void*, void*, std::size_t) noexcept
    __asm__("__real__ZN8heapwise2os10move_pagesEPvS1_m");
bool real_is_one(const void*, std::size_t) noexcept
    __asm__("__real__ZN8heapwise2os14is_one_mappingEPKvm");
bool real_start(void (*)(), const void*) noexcept
    __asm__("__real__ZN8heapwise2os17start_bare_threadEPFvvEPKv");
std::size_t real_page_bytes() noexcept __asm__("__real__ZN8heapwise2os10page_bytesEv");

void* fake_map(std::size_t, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os3mapEmm");
bool fake_unmap(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os5unmapEPvm");
void* fake_reserve(std::size_t, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os7reserveEmm");
os::placed fake_map_at(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os6map_atEPvm");
bool fake_extend(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os14extend_mappingEPvm");
os::placed fake_reserve_at(void*, std::size_t) noexcept
    __asm__("__wrap__ZN8heapwise2os10reserve_atEPvm");
bool fake_commit(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os6commitEPvm");
bool fake_purge(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os5purgeEPvm");
bool fake_renew(void*, std::size_t) noexcept __asm__("__wrap__ZN8heapwise2os5renewEPvm");
bool fake_move(void*, void*, std::size_t) noexcept
    __asm__("__wrap__ZN8heapwise2os10move_pagesEPvS1_m");
bool fake_is_one(const void*, std::size_t) noexcept
    __asm__("__wrap__ZN8heapwise2os14is_one_mappingEPKvm");
bool fake_start(void (*)(), const void*) noexcept
    __asm__("__wrap__ZN8heapwise2os17start_bare_threadEPFvvEPKv");
std::size_t fake_page_bytes() noexcept __asm__("__wrap__ZN8heapwise2os10page_bytesEv");

namespace {

/// Ends the process where a call is not made of whole pages of the size that we pretend.
void expect_pages(const void* at, std::size_t size) noexcept {
  const std::size_t page = fake_page_bytes();
  if (size % page == 0 && reinterpret_cast<std::uintptr_t>(at) % page == 0) return;
  static constexpr char line[] = "not whole pages\n";
  [[maybe_unused]] const auto written = ::write(2, line, sizeof line - 1);
  ::_exit(3);
}

/// What a start of the heap that another thread forks beside waits for.
void wait_for_fork() {
  if (!plan.fork_during_start || plan.is_starting) return;
  plan.is_starting = true;
  while (!plan.is_forking) std::this_thread::yield();
  ::usleep(50'000); // enough for a fork that does not wait
}

} // namespace

void* fake_map(std::size_t size, std::size_t alignment) noexcept {
  expect_pages(nullptr, size);
  return plan.next_fails() ? nullptr : real_map(size, std::max(alignment, fake_page_bytes()));
}
bool fake_unmap(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  return !plan.refuse_unmaps && real_unmap(at, size);
}
void* fake_reserve(std::size_t size, std::size_t alignment) noexcept {
  expect_pages(nullptr, size);
  wait_for_fork();
  return plan.next_fails() ? nullptr : real_reserve(size, std::max(alignment, fake_page_bytes()));
}
os::placed fake_map_at(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  if (plan.spoil_places) return os::placed::refused;
  if (plan.refuse_mappings) return os::placed::refused; // Linux counts before it looks at the place
  return plan.next_fails() ? os::placed::refused : real_map_at(at, size);
}
bool fake_extend(void* end, std::size_t size) noexcept {
  expect_pages(end, size);
  return !plan.spoil_places && !plan.next_fails() && real_extend(end, size);
}
os::placed fake_reserve_at(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  wait_for_fork();
  return plan.next_fails() ? os::placed::refused : real_reserve_at(at, size);
}
bool fake_commit(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  return !plan.next_fails() && real_commit(at, size);
}
bool fake_purge(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  ++plan.purges;
  if (plan.refuse_purges) return false;
  return !plan.next_fails() && real_purge(at, size);
}

// The system may unmap a place before it finds that it cannot put anything there.
bool fake_renew(void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  if (plan.refuse_mappings) return false;
  if (plan.spoil_places) {
    os::unmap(at, size);
    return false;
  }
  if (!plan.next_fails()) return real_renew(at, size);
  if (plan.calls % 2 == 0) os::unmap(at, size);
  return false;
}
bool fake_move(void* from, void* to, std::size_t size) noexcept {
  expect_pages(from, size);
  expect_pages(to, size);
  if (plan.refuse_mappings) return false;
  if (plan.spoil_places) {
    os::unmap(to, size);
    return false;
  }
  const bool fails = plan.next_fails();
  // As Linux up to 6.16 does it, also if the source is several mappings.
  if (!fails && real_is_one(from, size)) return real_move(from, to, size);
  if (!fails || plan.calls % 2 == 0) os::unmap(to, size);
  return false;
}
bool fake_is_one(const void* at, std::size_t size) noexcept {
  expect_pages(at, size);
  return !plan.next_fails() && real_is_one(at, size);
}
bool fake_start(void (*body)(), const void* variable) noexcept {
  if (plan.threads_to_refuse > 0) {
    --plan.threads_to_refuse;
    return false;
  }
  return !plan.next_fails() && real_start(body, variable);
}
std::size_t fake_page_bytes() noexcept {
  const std::size_t pretended = plan.page_bytes;
  return pretended != 0 ? pretended : real_page_bytes();
}

namespace {

#define EXPECT(condition)                                                    \
  do {                                                                       \
    if (!(condition)) {                                                      \
      std::fprintf(stderr, "line %d: not true: %s\n", __LINE__, #condition); \
      ::_exit(1);                                                            \
    }                                                                        \
  } while (false)

struct kept_block {
  unsigned char* bytes = nullptr;
  std::size_t size = 0;
};

/// Effects: signs a block, or sees that a refusal is told as it should be.
void keep(std::vector<kept_block>& all, void* block, std::size_t size) {
  if (block == nullptr) {
    EXPECT(errno == ENOMEM);
    return;
  }
  std::memset(block, static_cast<int>(all.size() % 251), size);
  all.push_back({static_cast<unsigned char*>(block), size});
}

void expect_signed(const kept_block& block, std::size_t index, std::size_t size) {
  for (std::size_t i = 0; i < size; i += i < 64 || i + 64 > size ? 1 : 61) {
    EXPECT(block.bytes[i] == index % 251);
  }
}

void free_all(std::vector<kept_block>& all) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    expect_signed(all[i], i, all[i].size);
    errno = 4321;
    heapwise_free(all[i].bytes);
    EXPECT(errno == 4321);
  }
  all.clear();
}

void small_blocks() {
  std::vector<kept_block> all;
  stress::random draw{1};
  for (int i = 0; i < 3000; ++i) {
    const std::size_t size = draw.below(i % 20 == 0 ? 20'000 : 700);
    errno = 0;
    keep(all, i % 5 == 0 ? heapwise_calloc(1, size) : heapwise_malloc(size), size);
  }
  free_all(all);
}

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
      void* const moved = heapwise_realloc(all[i].bytes, wanted);
      if (moved == nullptr) {
        EXPECT(errno == ENOMEM);
        continue; // what was there stays, and free_all looks
      }
      all[i].bytes = static_cast<unsigned char*>(moved);
      expect_signed(all[i], i, std::min(all[i].size, wanted));
      all[i].size = wanted;
      std::memset(moved, static_cast<int>(i % 251), wanted);
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

struct process_kib {
  long addresses = 0;
  long resident = 0;
};

process_kib kib_of_process() {
  std::array<char, 64> text{};
  const int file = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  EXPECT(file >= 0 && ::read(file, text.data(), text.size() - 1) > 0);
  ::close(file);
  const long page_kib = static_cast<long>(::sysconf(_SC_PAGESIZE) / 1024);
  char* rest = nullptr;
  const long addresses = std::strtol(text.data(), &rest, 10);
  return {addresses * page_kib, std::strtol(rest, nullptr, 10) * page_kib};
}

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
        const outcome found = play(each, n, for_good);
        REQUIRE(found.status == 0);
        // What a failure left behind must not be lost for ever. The heap grows in steps of 4 MiB;
        // if the first call fails, it reserves all of its range.
        const bool reserved = found.kib > reserved_kib;
        CHECK(found.kib <= well.kib + 8192 + (reserved ? reserved_kib + reserved_kib / 12 : 0));
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

/// Effects: plays something in a process of its own, which has to end well.
template <class Body>
void play_alone(const Body& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(60);
    body();
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}

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

/// Returns: a block of 64 MiB to whose place pages were moved.
void* make_moved_block() {
  void* const block = make_wedged_block();
  void* const moved = heapwise_realloc(block, 64 * mib);
  EXPECT(moved != nullptr && moved != block);
  EXPECT(heapwise::detail::count_pieces() == 1);
  return moved;
}

/// Effects: lets the block grow to 64 MiB, frees it, and purges. Expects that its contents are
/// whole, and that nothing more is resident afterwards. Returns: where it has grown.
void* grow_and_free(void* block, std::atomic<bool>& fault) {
  fault = true;
  auto* const moved = static_cast<unsigned char*>(heapwise_realloc(block, 64 * mib));
  fault = false;
  EXPECT(moved != nullptr && moved != block);
  for (std::size_t i = 0; i < 8 * mib; i += 501) EXPECT(moved[i] == 1);
  heapwise_free(moved);
  heapwise_malloc_purge();
  return moved;
}

/// Expects that not much more is resident than these KiB.
void expect_resident(long kib) { EXPECT(kib_of_process().resident < kib + (32 << 10)); }

TEST_CASE("a block is freed while the process has too many mappings" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    const long resident_kib = kib_of_process().resident;
    void* const moved = make_moved_block();
    std::memset(moved, 2, 64 * mib);
    plan.refuse_mappings = true;
    heapwise_free(moved);
    plan.refuse_mappings = false;
    heapwise_malloc_purge();
    expect_resident(resident_kib);
    EXPECT(heapwise_malloc(64 * mib) == moved);
  });
}

TEST_CASE("a block is freed while the process has too many mappings, locked in memory" *
          doctest::skip(HEAPWISE_SKIP_FAULTS)) {
  play_alone([] {
    void* const moved = make_moved_block();
    plan.refuse_mappings = plan.refuse_purges = true;
    heapwise_free(moved);
    plan.refuse_mappings = plan.refuse_purges = false;
    EXPECT(heapwise_malloc(64 * mib) == moved);
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
    void* const moved = make_moved_block();
    plan.spoil_places = true;
    heapwise_free(moved);
    plan.spoil_places = false;
    EXPECT(heapwise::detail::count_pieces() == 0);
    EXPECT(heapwise_malloc(64 * mib) != moved);
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
      ::alarm(10);
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
