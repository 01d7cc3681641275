// Rates, for experiments that ask how much is done in a second rather than how long one takes.
#pragma once

#include <cstdint>

#include "harness/cell.hpp"

namespace heapwise::bench {

/// The quantity that measure_rate sets; experiments declare it with the meaning of their item.
inline constexpr const char* rate_name = "throughput";

/// Millions in a second.
[[nodiscard]] constexpr double millions_per_second(std::uint64_t count, std::uint64_t ns) noexcept {
  return 1e3 * static_cast<double>(count) / static_cast<double>(ns);
}

[[nodiscard]] constexpr double gib_per_second(std::uint64_t bytes, std::uint64_t ns) noexcept {
  return static_cast<double>(bytes) / static_cast<double>(ns) * (1e9 / 0x1p30);
}

/// Times `work()` once for each repeat; what it returns must be `expected`, else the check "work"
/// fails. Sets `throughput` to millions of items in a second. What `work` computes must depend on
/// memory that was escaped, or the compiler may do it before the clock starts.
template <class Work>
void measure_rate(cell& the_cell, std::uint64_t items, std::uint64_t expected, Work&& work) {
  the_cell.each_repeat([&](sample& the_sample) {
    std::uint64_t result = 0;
    const std::uint64_t elapsed_ns = the_sample.measure(items, [&] {
      result = work();
      keep(result);
    });
    the_sample.set(rate_name, millions_per_second(items, elapsed_ns));
    the_cell.check("work", result == expected, "result {}, expected {}", result, expected);
  });
}

} // namespace heapwise::bench
