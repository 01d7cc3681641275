// The clock of every measurement, and what reading it costs.
#pragma once

#include <cstdint>
#include <ctime>

namespace heapwise::bench {

/// CLOCK_MONOTONIC is slewed by NTP, at most 500 ppm; unlike CLOCK_MONOTONIC_RAW it is read without
/// a system call on every kernel that we know, so its reading disturbs least.
inline constexpr clockid_t measuring_clock = CLOCK_MONOTONIC;

[[nodiscard]] inline std::uint64_t now_ns() noexcept {
  timespec time{};
  clock_gettime(measuring_clock, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

/// Processor time that all threads of this process have had. A system call.
[[nodiscard]] inline std::uint64_t process_cpu_ns() noexcept {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U +
         static_cast<std::uint64_t>(time.tv_nsec);
}

struct clock_quality {
  double resolution_ns; ///< the smallest step ever seen, at least what the kernel claims
  double overhead_ns;   ///< one reading, the least of several batches
};

[[nodiscard]] inline clock_quality measure_clock() noexcept {
  constexpr int batches = 16;
  constexpr int readings = 1000;
  timespec claimed{};
  clock_getres(measuring_clock, &claimed);
  std::uint64_t step = UINT64_MAX;
  std::uint64_t cheapest = UINT64_MAX;
  for (int batch = 0; batch < batches; ++batch) {
    const std::uint64_t start = now_ns();
    std::uint64_t previous = start;
    for (int reading = 0; reading < readings; ++reading) {
      const std::uint64_t time = now_ns();
      if (time != previous && time - previous < step) step = time - previous;
      previous = time;
    }
    if (previous - start < cheapest) cheapest = previous - start;
  }
  const auto claimed_ns = static_cast<std::uint64_t>(claimed.tv_nsec);
  // A step that is as long as one reading only shows the reading: then the kernel's claim counts.
  const std::uint64_t reading_ns = cheapest / readings;
  const std::uint64_t resolution = step <= 2 * reading_ns + 1 ? claimed_ns : step;
  return {static_cast<double>(resolution < claimed_ns ? claimed_ns : resolution),
          static_cast<double>(cheapest) / readings};
}

} // namespace heapwise::bench
