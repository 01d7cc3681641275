// Lets another thread in at the points that the library marks, as a seed says. Include it before
// any header of the library, and do not use the C API beside it.
#pragma once

#include <cstdint>
#include <thread>

namespace stress {

/// The state of this thread's dice; 0: never yields.
inline thread_local std::uint64_t dice = 0;

/// Effects: from now on this thread yields at random, the same for the same seed and thread.
inline void seed_schedule(std::uint64_t seed, std::uint64_t thread) noexcept {
  dice = (seed * 0x9E37'79B9'7F4A'7C15u + thread * 0xBF58'476D'1CE4'E5B9u) | 1;
}

inline void schedule_point() noexcept {
  if (dice == 0) return;
  dice ^= dice << 13; // Marsaglia, "Xorshift RNGs", 2003
  dice ^= dice >> 7;
  dice ^= dice << 17;
  for (std::uint64_t i = (dice >> 40) % 4; i > 1; --i) std::this_thread::yield();
}

} // namespace stress

#define HEAPWISE_SCHEDULE_POINT() ::stress::schedule_point()
