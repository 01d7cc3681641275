#include "os/os.hpp"

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/single_threaded.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace heapwise::os {

std::size_t page_bytes() noexcept {
  static const auto size = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  return size;
}

namespace {

/// Keeps errno as it was, whatever the calls in between do to it.
class errno_keeper {
 public:
  errno_keeper() noexcept : saved_{errno} {}
  ~errno_keeper() { errno = saved_; }
  errno_keeper(const errno_keeper&) = delete;
  errno_keeper& operator=(const errno_keeper&) = delete;

 private:
  int saved_;
};

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

void unmap(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  ::munmap(memory, size_bytes);
}

void* reserve(std::size_t size_bytes, std::size_t alignment) noexcept {
  return map_aligned(size_bytes, alignment, PROT_NONE, MAP_NORESERVE);
}

bool show(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::mprotect(memory, size_bytes, PROT_READ) == 0;
}

bool commit(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::mprotect(memory, size_bytes, PROT_READ | PROT_WRITE) == 0;
}

bool purge(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::madvise(memory, size_bytes, MADV_DONTNEED) == 0;
}

bool renew(void* memory, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  return ::mmap(memory, size_bytes, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

bool move_pages(void* from, void* to, std::size_t size_bytes) noexcept {
  const errno_keeper keep;
  // The old place stays mapped and empty: no other mapping can slip into it.
  return ::mremap(from, size_bytes, size_bytes, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
                  to) != MAP_FAILED;
}

std::size_t address_limit_bytes() noexcept {
  const errno_keeper keep;
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return SIZE_MAX;
  return limit.rlim_cur;
}

const char* const* environment() noexcept { return ::environ; }

bool is_single_threaded() noexcept { return __libc_single_threaded != 0; }

std::uint32_t process_id() noexcept { return static_cast<std::uint32_t>(::getpid()); }

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
    const ssize_t written = ::write(STDERR_FILENO, text, length);
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
