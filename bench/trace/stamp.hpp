// The stamps that order the calls of different threads.
//
// A call that ends a block is stamped before it, a call that makes one after it. So if an address
// passes from one thread to another through the allocator, its free has the smaller stamp.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include "kernel/clock.hpp"
#endif

namespace heapwise::bench {

/// The stores of the call that follows reach memory after this instruction has retired.
[[nodiscard, gnu::always_inline]] inline std::uint64_t stamp_before() noexcept {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks)::"memory");
  return ticks;
#else
  return now_ns();
#endif
}

/// Waits for the loads of the call that stands before.
[[nodiscard, gnu::always_inline]] inline std::uint64_t stamp_after() noexcept {
#if defined(__x86_64__)
  unsigned processor = 0;
  return __builtin_ia32_rdtscp(&processor);
#elif defined(__aarch64__)
  std::uint64_t ticks = 0;
  __asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
  return ticks;
#else
  return now_ns();
#endif
}

} // namespace heapwise::bench
