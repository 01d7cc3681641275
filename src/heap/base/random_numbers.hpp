// Numbers that a program cannot foresee, for the order in which blocks are handed out.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "heapwise/detail/config.hpp"
#include "os/os.hpp"

#include "os/expects.hpp"

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
  if (state == 0) [[unlikely]]
    state = begin_sequence();
  state ^= state << 13; // xorshift (Marsaglia 2003)
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/// Returns: a number below `limit`, by one half of a random word. Requires:
/// 0 < limit < 2^32.
constexpr std::size_t by_upper_half(std::uint64_t random, std::size_t limit) noexcept {
  constexpr unsigned half_word = 32;
  expects(0 < limit && limit >> half_word == 0, "a limit of random numbers has 32 bits");
  return (random >> half_word) * limit >> half_word;
}
constexpr std::size_t by_lower_half(std::uint64_t random, std::size_t limit) noexcept {
  constexpr unsigned half_word = 32;
  return by_upper_half(random << half_word, limit);
}

/// Returns: a number of this thread's sequence, below `limit`. Requires: 0 < limit < 2^32.
inline std::size_t random_below(std::size_t limit) noexcept {
  return by_upper_half(random_bits(), limit);
}

/// Many small numbers, from few words of this thread's sequence: a word is the fraction of which
/// `limit` times the whole part is the number, and the rest is the next fraction.
class small_numbers {
 public:
  /// Returns: a number below `limit`. Requires: 0 < limit <= 128.
  HEAPWISE_ALWAYS_INLINE std::size_t below(std::size_t limit) noexcept {
    expects(0 < limit, "a number below 0 is not asked for");
    if (left_ == 0) {
      fraction_ = random_bits();
      left_ = numbers_of_a_word;
    }
    --left_;
    __extension__ using product = unsigned __int128;
    const product whole_and_rest = static_cast<product>(fraction_) * limit;
    fraction_ = static_cast<std::uint64_t>(whole_and_rest);
    return static_cast<std::size_t>(whole_and_rest >> bits_of_a_word);
  }

 private:
  static constexpr unsigned bits_of_a_word = 64;
  // Of 7 bits each: the last number is by 29 bits, so that all are equally likely.
  static constexpr unsigned numbers_of_a_word = 6;

  std::uint64_t fraction_ = 0;
  unsigned left_ = 0;
};

} // namespace heapwise::detail
