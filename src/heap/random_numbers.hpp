// Numbers that a program cannot foresee, for the order in which blocks are handed out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "os/os.hpp"

namespace heapwise::detail {

/// Where the sequences of all threads begin. Written before the first thread asks.
inline constinit std::atomic<std::uint64_t> next_sequence{0};
inline constinit std::uint64_t sequence_secret = 0;

/// Effects: sequences are such as no other process has. Requires: no thread has asked yet.
inline void seed_random_numbers() noexcept {
  next_sequence.store(os::random_word(), std::memory_order_relaxed);
  sequence_secret = os::random_word();
}

/// Returns: where the sequence of one more thread begins; not 0. Asks the system for nothing: the
/// program may have forbidden that by now.
inline std::uint64_t begin_sequence() noexcept {
  constexpr std::uint64_t step = 0x9E3779B97F4A7C15u; // SplitMix64 (Steele, Lea, Flood 2014)
  std::uint64_t word = next_sequence.fetch_add(step, std::memory_order_relaxed);
  word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9u;
  word = (word ^ word >> 27) * 0x94D049BB133111EBu;
  return ((word ^ word >> 31) ^ sequence_secret) | 1;
}

/// Returns: the next word of this thread's sequence; not 0.
inline std::uint64_t random_bits() noexcept {
  static __thread std::uint64_t state = 0;
  if (state == 0) state = begin_sequence();
  state ^= state << 13; // xorshift (Marsaglia 2003)
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Returns: a number of this thread's sequence, below `limit`. Requires: 0 < limit < 2^32.
inline std::size_t random_below(std::size_t limit) noexcept {
  constexpr unsigned half_word = 32;
  return (random_bits() >> half_word) * limit >> half_word;
}

} // namespace heapwise::detail
