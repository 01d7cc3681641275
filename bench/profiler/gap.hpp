// Distances between the sampled bytes of a thread.
//
// Each byte that is asked for is a sample with the same small chance, so the distances are
// geometric and the chance of a block depends on its size only: 1 - exp(-size / mean). Integers
// only: floating-point operations could raise an exception that the program has enabled.
#pragma once

#include <bit>
#include <cstdint>

namespace heapwise::bench {

/// splitmix64 (Steele, Lea, Flood, OOPSLA 2014).
class random_numbers {
 public:
  constexpr explicit random_numbers(std::uint64_t seed) noexcept : state_{seed} {}

  constexpr std::uint64_t next() noexcept {
    state_ += 0x9E37'79B9'7F4A'7C15;
    std::uint64_t mixed = state_;
    mixed = (mixed ^ mixed >> 30) * 0xBF58'476D'1CE4'E5B9;
    mixed = (mixed ^ mixed >> 27) * 0x94D0'49BB'1331'11EB;
    return mixed ^ mixed >> 31;
  }

 private:
  std::uint64_t state_;
};

/// -log2(random / 2^64) with 32 binary places, for a random number above 0.
[[nodiscard]] constexpr std::uint64_t negative_log2(std::uint64_t random) noexcept {
  const int zeros = std::countl_zero(random);
  std::uint64_t mantissa = random << zeros >> 32; // of [1, 2), with 31 binary places
  std::uint64_t places = 0;
  for (int bit = 31; bit >= 0; --bit) {
    mantissa *= mantissa; // of [1, 4), with 62 binary places
    const bool two = mantissa >> 63 != 0;
    places |= std::uint64_t{two} << bit;
    mantissa >>= two ? 32 : 31;
  }
  return (static_cast<std::uint64_t>(zeros + 1) << 32) - places;
}

/// How many bytes are not samples before the next one is.
[[nodiscard]] constexpr std::uint64_t gap_of(std::uint64_t random, std::uint64_t mean) noexcept {
  __extension__ using wide = unsigned __int128;
  constexpr std::uint64_t ln_2 = 2'977'044'472; // with 32 binary places
  const auto exponential = static_cast<std::uint64_t>(wide{negative_log2(random | 1)} * ln_2 >> 32);
  return static_cast<std::uint64_t>(wide{exponential} * mean >> 32);
}

} // namespace heapwise::bench
