// Distances between sampled bytes: those that a heap profile or a recorder of allocations takes.
//
// Each byte that is asked for is a sample with the same small chance, so the distances are
// geometric and the chance of a block depends on its size only: 1 - exp(-size / mean). Integers
// only: floating-point operations could raise an exception that the program has enabled.
#pragma once

#include <bit>
#include <cstdint>

namespace heapwise::detail {

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

/// A chance, in parts of 2^60.
inline constexpr unsigned chance_bits = 60;

/// Returns: 1 - exp(-bytes / mean), the chance that one of these bytes is a sample. Requires:
/// mean > 0.
[[nodiscard]] constexpr std::uint64_t chance_of(std::uint64_t bytes, std::uint64_t mean) noexcept {
  __extension__ using wide = unsigned __int128;
  constexpr std::uint64_t one = std::uint64_t{1} << chance_bits;
  constexpr std::uint64_t most_means = 32; // exp(-32) is 2^-46
  if (bytes / mean >= most_means) return one;
  // exp(-x) is exp(-x / 16) four times squared. The series of the latter alternates.
  constexpr unsigned squarings = 4;
  const auto part = static_cast<std::uint64_t>((wide{bytes} << (chance_bits - squarings)) / mean);
  constexpr unsigned terms = 24; // x / 16 is below 2, and 2^24 / 24! below 2^-54
  std::uint64_t sum = one;
  std::uint64_t term = one;
  for (unsigned each = 1; each <= terms; ++each) {
    term = static_cast<std::uint64_t>((wide{term} * part >> chance_bits) / each);
    sum = each % 2 == 1 ? sum - term : sum + term;
  }
  for (unsigned each = 0; each < squarings; ++each) {
    sum = static_cast<std::uint64_t>(wide{sum} * sum >> chance_bits);
  }
  return one - sum;
}

} // namespace heapwise::detail
