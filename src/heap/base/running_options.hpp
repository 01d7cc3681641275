// Options that the program may change while it runs. Those of the environment are sealed.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "heap/base/options.hpp"

namespace heapwise::detail {

/// 0: as the environment says. Relaxed: the program cannot tell when its request is followed.
struct running_options {
  std::atomic<std::size_t> limit_bytes{0};
  std::atomic<std::size_t> soft_limit_bytes{0};
  std::atomic<std::uint64_t> purge_delay{0}; // milliseconds and 1
};
extern running_options the_running_options;

/// Returns: how many bytes of slices may be used.
[[nodiscard]] inline std::size_t limit_bytes() noexcept {
  const std::size_t chosen = the_running_options.limit_bytes.load(std::memory_order_relaxed);
  return chosen != 0 ? chosen : the_options.limit_bytes;
}

inline constexpr std::size_t no_limit = std::numeric_limits<std::size_t>::max();

/// Effects: from now on that is the limit; 0: there is none.
inline void set_limit(std::size_t bytes) noexcept {
  the_running_options.limit_bytes.store(bytes == 0 ? no_limit : bytes, std::memory_order_relaxed);
}

/// Returns: from how many bytes on, used or dirty, free memory goes back at once.
[[nodiscard]] inline std::size_t soft_limit_bytes() noexcept {
  const std::size_t chosen = the_running_options.soft_limit_bytes.load(std::memory_order_relaxed);
  return chosen != 0 ? chosen : the_options.soft_limit_bytes;
}

/// Effects: as set_limit.
inline void set_soft_limit(std::size_t bytes) noexcept {
  the_running_options.soft_limit_bytes.store(bytes == 0 ? no_limit : bytes,
                                             std::memory_order_relaxed);
}

[[nodiscard]] inline std::uint32_t purge_delay_ms() noexcept {
  const std::uint64_t chosen = the_running_options.purge_delay.load(std::memory_order_relaxed);
  return chosen != 0 ? static_cast<std::uint32_t>(chosen - 1) : the_options.purge_delay_ms;
}

inline void set_purge_delay(std::uint32_t milliseconds) noexcept {
  the_running_options.purge_delay.store(std::uint64_t{milliseconds} + 1, std::memory_order_relaxed);
}

} // namespace heapwise::detail
