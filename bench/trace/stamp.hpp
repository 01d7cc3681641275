// The stamps that order the calls of different threads.
//
// A call that ends a block is stamped before it, a call that makes one after it. So if an address
// passes from one thread to another through the allocator, its free has the smaller stamp, except
// for `stamp_slack`: a processor may read its counter before the loads that stand before have
// ended. An instruction that waits for them takes twice the time (rdtscp: 19 ns, rdtsc: 10, AMD
// EPYC), so the drain puts such pairs right.
#pragma once

#include <cstdint>

#if !defined(__x86_64__) && !defined(__aarch64__)
#include "kernel/clock.hpp"
#endif

namespace heapwise::bench {

/// More ticks than a load takes. Counters run at 25 MHz to 5 GHz.
inline constexpr std::uint64_t stamp_slack = 4096;

/// The stores of the call that follows reach memory after this instruction has retired.
[[nodiscard, gnu::always_inline]] inline std::uint64_t stamp_now() noexcept {
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

} // namespace heapwise::bench
