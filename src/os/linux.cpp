#include "os/os.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <new>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "os/errno_keeper.hpp"

extern "C" {
// There if the program was built with ThreadSanitizer or MemorySanitizer.
[[gnu::weak]] void __tsan_init();
[[gnu::weak]] void __msan_init();
}

namespace heapwise::os {

namespace {

#if defined(HEAPWISE_MTE) && defined(__aarch64__)
constinit int can_be_written = PROT_READ | PROT_WRITE;
#else
constexpr int can_be_written = PROT_READ | PROT_WRITE;
#endif

} // namespace

#if defined(HEAPWISE_MTE) && defined(__aarch64__)

bool allow_tags() noexcept {
  const errno_keeper keep;
  // <sys/prctl.h> and <sys/mman.h> of the C library may be older than the kernel.
  constexpr int set_tagged_addresses = 55;                 // PR_SET_TAGGED_ADDR_CTRL
  constexpr unsigned long enabled = 1;                     // PR_TAGGED_ADDR_ENABLE
  constexpr unsigned long faults_at_once = 2;              // PR_MTE_TCF_SYNC
  constexpr unsigned long all_tags_but_0 = 0xfffeUL << 3U; // PR_MTE_TAG_SHIFT
  constexpr unsigned long has_tags = 1UL << 18U;           // HWCAP2_MTE
  constexpr int tagged = 0x20;                             // PROT_MTE
  if ((::getauxval(AT_HWCAP2) & has_tags) == 0) return false;
  if (::prctl(set_tagged_addresses, enabled | faults_at_once | all_tags_but_0, 0UL, 0UL, 0UL) !=
      0) {
    return false;
  }
  can_be_written |= tagged;
  return true;
}

#else

bool allow_tags() noexcept { return false; }

#endif

std::size_t page_bytes() noexcept {
  // Not a constant of the function: threads may ask at once before the heap has started. Relaxed:
  // all of them write the same.
  static constinit std::atomic<std::size_t> known{0};
  std::size_t size = known.load(std::memory_order_relaxed);
  if (size == 0) {
    size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    known.store(size, std::memory_order_relaxed);
  }
  return size;
}

namespace {

std::byte* map_anywhere(std::size_t size_bytes, int protection, int flags) noexcept {
  void* const memory =
      ::mmap(nullptr, size_bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

void* map_aligned(std::size_t size_bytes, std::size_t alignment, int protection,
                  int flags) noexcept {
  const errno_keeper keep;
  const std::size_t slack = alignment <= page_bytes() ? 0 : alignment - page_bytes();
  if (size_bytes > SIZE_MAX - slack) return nullptr;
  std::byte* const memory = map_anywhere(size_bytes + slack, protection, flags);
  if (memory == nullptr || slack == 0) return memory;
  // Cut off what sticks out before and behind the aligned part.
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(memory) & (alignment - 1);
  if (before != 0) ::munmap(memory, before);
  if (slack != before) ::munmap(memory + before + size_bytes, slack - before);
  return memory + before;
}

} // namespace

void* map(std::size_t size_bytes, std::size_t alignment) noexcept {
  return map_aligned(size_bytes, alignment, PROT_READ | PROT_WRITE, 0);
}

bool unmap(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::munmap(memory, size_bytes) == 0;
}

void* reserve(std::size_t size_bytes, std::size_t alignment) noexcept {
  return map_aligned(size_bytes, alignment, PROT_NONE, MAP_NORESERVE);
}

namespace {

placed place(void* memory, std::size_t size_bytes, int protection) noexcept {
  const errno_keeper keep;
  void* const mapping =
      ::mmap(memory, size_bytes, protection,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (mapping == memory) return placed::here;
  if (mapping == MAP_FAILED) return errno == EEXIST ? placed::occupied : placed::refused;
  // Linux before 4.17 takes the address for a wish.
  ::munmap(mapping, size_bytes);
  return placed::occupied;
}

constexpr std::uintptr_t tib = std::uintptr_t{1} << 40;

// Where the system places nothing by itself. Programs and libraries lie higher: executables from
// two thirds of the addresses on, everything else from the top downwards. If the stack is
// unlimited, mappings go upwards, from a third of the addresses on (a quarter on aarch64); where
// they begin is random in at most 16 TiB (32 TiB). Below lie the shadows of sanitizers, and the
// random addresses that V8 asks for, which are below 64 TiB. At 80 TiB begins the heap of
// AddressSanitizer.
struct zone {
  std::uintptr_t begin;
  std::uintptr_t end;
  // A mapping that begins in the zone cannot be this long: it would reach beyond the highest
  // address.
  std::size_t beyond;
};
#if defined(__x86_64__)
constexpr zone quiet{66 * tib, 80 * tib, 64 * tib}; // of 128 TiB
#elif defined(__aarch64__)
constexpr zone quiet{100 * tib, 116 * tib, 160 * tib}; // of 256 TiB
#else
constexpr zone quiet{0, 0, 0};
#endif

/// Returns: whether the runtime of a sanitizer allows a few addresses only. If such a runtime gets
/// an address that it does not allow, it passes 0 to the system, and the mapping comes elsewhere.
bool addresses_are_restricted() noexcept {
  return __tsan_init != nullptr || __msan_init != nullptr;
}

} // namespace

bool addresses_are_fixed() noexcept {
  const errno_keeper keep;
  const int now = ::personality(0xffffffff); // this value only asks
  return now != -1 && (now & ADDR_NO_RANDOMIZE) != 0;
}

placed map_at(void* memory, std::size_t size_bytes) noexcept {
  return place(memory, size_bytes, can_be_written);
}

void* enlarge(void* memory, std::size_t size_bytes, std::size_t larger_bytes) noexcept {
  const errno_keeper keep;
  void* const larger = ::mremap(memory, size_bytes, larger_bytes, MREMAP_MAYMOVE);
  return larger == MAP_FAILED ? nullptr : larger;
}

bool extend_mapping(void* end, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  // A mapping that grows at its place is not counted (mm/mremap.c, Linux 2.6 to 6.18), while mmap
  // counts before it looks for a mapping to join.
  const std::size_t page = page_bytes();
  return ::mremap(static_cast<std::byte*>(end) - page, page, page + size_bytes, 0) != MAP_FAILED;
}

placed reserve_at(void* memory, std::size_t size_bytes) noexcept {
  return place(memory, size_bytes, PROT_NONE);
}

void* quiet_addresses(std::size_t size_bytes, std::size_t alignment) noexcept {
  if (quiet.end - quiet.begin < size_bytes || addresses_are_restricted()) return nullptr;
  const std::uintptr_t places = (quiet.end - quiet.begin - size_bytes) / alignment + 1;
  const std::uintptr_t number = addresses_are_fixed() ? 0 : random_word() % places;
  return reinterpret_cast<void*>(quiet.begin + number * alignment); // the begin is aligned
}

bool show(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::mprotect(memory, size_bytes, PROT_READ) == 0;
}

bool commit(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::mprotect(memory, size_bytes, can_be_written) == 0;
}

bool purge(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::madvise(memory, size_bytes, MADV_DONTNEED) == 0;
}

bool renew(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::mmap(memory, size_bytes, can_be_written,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool is_mapped(const void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  // Changes nothing, and fails only at a hole; madvise would also fail where memory is locked.
  // Not ::msync, at which a thread may be cancelled.
  return ::syscall(SYS_msync, memory, size_bytes, MS_ASYNC) == 0;
}

bool is_one_mapping(const void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  // Asked to grow at its place over half of all addresses, where libraries and stacks are in the
  // way, a mapping is refused for lack of room; several mappings are refused as a bad address.
  if (::mremap(const_cast<void*>(memory), size_bytes, quiet.beyond, 0) != MAP_FAILED) return false;
  return errno == ENOMEM || errno == EAGAIN; // EAGAIN: it is locked in memory
}

bool move_pages(void* from, void* to, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  // Not with MREMAP_DONTUNMAP, which would leave an empty mapping at the old place: it is refused,
  // after the target was unmapped, if the limit of addresses has come to be below what is in use;
  // and since Linux 6.15 it makes the system lose count of committed memory (strict overcommit).
  return ::mremap(from, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED;
}

std::size_t address_limit_bytes() noexcept {
  const errno_keeper keep;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

namespace {
constinit const char* const* environment_at_load = nullptr;
} // namespace

const char* const* environment() noexcept {
  if (::getauxval(AT_SECURE) != 0) return nullptr;
  return ::environ != nullptr ? ::environ : environment_at_load;
}

void remember_environment(const char* const* environment) noexcept {
  environment_at_load = environment;
}

namespace {

using shared_number = std::atomic<std::uint32_t>;

/// Stands for "the system has no such page".
constinit shared_number no_page{0};

/// A page of which a child gets zeros instead of a copy (Linux 4.14).
constinit std::atomic<shared_number*> page_of_number{nullptr};

constinit shared_number last_number{0};

/// Returns: whether children get zeros for the page.
bool wipe_on_fork(std::byte* page) noexcept {
  // An emulator may agree to all advice, and follow none (qemu 7.2).
  constexpr int no_advice = -1;
  return ::madvise(page, page_bytes(), MADV_WIPEONFORK) == 0 &&
         ::madvise(page, page_bytes(), no_advice) != 0;
}

shared_number* make_page_of_number() noexcept {
  const errno_keeper keep;
  std::byte* const page = map_anywhere(page_bytes(), PROT_READ | PROT_WRITE, 0);
  const bool is_wiped = page != nullptr && wipe_on_fork(page);
  // The answer of the first thread holds for all threads, also if it is that there is none.
  auto* const number = is_wiped ? ::new (page) shared_number{0} : &no_page;
  shared_number* seen = nullptr;
  // Release: pairs with memory_number, for the number in the page.
  if (page_of_number.compare_exchange_strong(seen, number, std::memory_order_release,
                                             std::memory_order_acquire)) {
    if (!is_wiped && page != nullptr) ::munmap(page, page_bytes());
    return number;
  }
  if (page != nullptr) ::munmap(page, page_bytes());
  return seen;
}

} // namespace

std::uint32_t memory_number() noexcept {
  // Not the number of the process: two processes in different namespaces may have the same.
  shared_number* page = page_of_number.load(std::memory_order_acquire);
  if (page == nullptr) page = make_page_of_number();
  if (page == &no_page) return static_cast<std::uint32_t>(::getpid());
  // Relaxed: nothing is published with the number.
  std::uint32_t number = page->load(std::memory_order_relaxed);
  if (number != 0) return number;
  const std::uint32_t next = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  const bool is_first = page->compare_exchange_strong(number, next, std::memory_order_relaxed);
  return is_first ? next : number;
}

void at_fork(void (*before)(), void (*in_parent)(), void (*in_child)()) noexcept {
  const errno_keeper keep;
  ::pthread_atfork(before, in_parent, in_child);
}

namespace {

// A key made early has a small number, and its values a place in every thread from the start.
pthread_key_t thread_exit_key;

} // namespace

bool set_thread_exit(void (*action)(void*)) noexcept {
  const errno_keeper keep;
  return ::pthread_key_create(&thread_exit_key, action) == 0;
}

void at_thread_exit(void* argument) noexcept {
  const errno_keeper keep;
  ::pthread_setspecific(thread_exit_key, argument);
}

namespace {

void* run_body(void* body) {
  reinterpret_cast<void (*)()>(body)();
  return nullptr;
}

constexpr std::size_t small_stack_bytes = std::size_t{128} << 10;

} // namespace

bool start_thread(void (*body)()) noexcept {
  const errno_keeper keep;
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  pthread_attr_t attributes;
  if (::pthread_attr_init(&attributes) != 0) return false;
  ::pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
  ::pthread_attr_setstacksize(&attributes, small_stack_bytes);
  ::pthread_sigmask(SIG_SETMASK, &all, &before); // the new thread inherits this
  pthread_t thread;
  const bool started =
      ::pthread_create(&thread, &attributes, run_body, reinterpret_cast<void*>(body)) == 0;
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  ::pthread_attr_destroy(&attributes);
  return started;
}

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept {
  const errno_keeper keep;
  const timespec limit{.tv_sec = limit_ms / 1000, .tv_nsec = limit_ms % 1000 * 1'000'000L};
  ::syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit_ms == 0 ? nullptr : &limit,
            nullptr, 0);
}

namespace {

void wake(std::atomic<std::uint32_t>& word, int most) noexcept {
  const errno_keeper keep;
  ::syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most, nullptr, nullptr, 0);
}

} // namespace

void wake_all(std::atomic<std::uint32_t>& word) noexcept { wake(word, INT32_MAX); }
void wake_one(std::atomic<std::uint32_t>& word) noexcept { wake(word, 1); }

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void write_error(const char* text, std::size_t length) noexcept {
  const errno_keeper keep;
  while (length > 0) {
    // The bare call: `write` is a point at which a thread may be cancelled.
    const ssize_t written = ::syscall(SYS_write, STDERR_FILENO, text, length);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) break;
    text += written;
    length -= static_cast<std::size_t>(written);
  }
}

unsigned long long random_word() noexcept {
  const errno_keeper keep;
  unsigned long long word = 0;
  if (::getrandom(&word, sizeof word, GRND_NONBLOCK) != sizeof word) {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC, &now);
    word = static_cast<unsigned long long>(now.tv_nsec) * 0x9E3779B97F4A7C15u ^
           reinterpret_cast<std::uintptr_t>(&word);
  }
  return word;
}

} // namespace heapwise::os
