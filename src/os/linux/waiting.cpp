// How threads wait for each other.
#include <atomic>
#include <cstdint>
#include <ctime>

#include <linux/futex.h>

#include "os/linux/system_call.hpp"
#include "os/os.hpp"

namespace heapwise::os {

static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

void wait(std::atomic<std::uint32_t>& word, std::uint32_t expected,
          std::uint32_t limit_ms) noexcept {
  const timespec limit{.tv_sec = limit_ms / 1000, .tv_nsec = limit_ms % 1000 * 1'000'000L};
  system_call(SYS_futex, &word, FUTEX_WAIT_PRIVATE, expected, limit_ms == 0 ? nullptr : &limit);
}

namespace {

void wake(std::atomic<std::uint32_t>& word, int most) noexcept {
  system_call(SYS_futex, &word, FUTEX_WAKE_PRIVATE, most);
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

} // namespace heapwise::os
