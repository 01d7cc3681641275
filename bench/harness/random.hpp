// Seeded random numbers, the same on every machine and compiler.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace heapwise::bench {

/// xoshiro256** (Blackman and Vigna 2021, doi 10.1145/3460772), seeded through splitmix64.
class random_numbers {
 public:
  explicit constexpr random_numbers(std::uint64_t seed) noexcept {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15U;
      std::uint64_t mixed = seed;
      mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9U;
      mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebU;
      word = mixed ^ (mixed >> 31);
    }
  }

  constexpr std::uint64_t next() noexcept {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  /// Uniform below `bound`, which must not be 0; without bias (Lemire 2019, doi 10.1145/3230636).
  constexpr std::uint64_t below(std::uint64_t bound) noexcept {
    __extension__ using wide = unsigned __int128;
    wide product = static_cast<wide>(next()) * bound;
    if (static_cast<std::uint64_t>(product) < bound) {
      const std::uint64_t threshold = (0 - bound) % bound;
      while (static_cast<std::uint64_t>(product) < threshold) {
        product = static_cast<wide>(next()) * bound;
      }
    }
    return static_cast<std::uint64_t>(product >> 64);
  }

  /// Uniform in [0, 1), 53 bits.
  constexpr double unit() noexcept { return static_cast<double>(next() >> 11) * 0x1p-53; }

  template <class Type>
  constexpr void shuffle(std::span<Type> items) noexcept {
    for (std::size_t left = items.size(); left > 1; --left) {
      std::swap(items[left - 1], items[static_cast<std::size_t>(below(left))]);
    }
  }

 private:
  std::uint64_t state_[4] = {};
};

} // namespace heapwise::bench
