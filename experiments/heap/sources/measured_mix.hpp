// What a recorded program asks of malloc while it works: sizes, and lifetimes of each size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace heaps {

/// Lifetimes in allocations: 0, then from 1 by powers of 4. The last also holds all longer ones.
inline constexpr std::size_t measured_lives = 11;

struct measured_size {
  std::uint32_t bytes;                      ///< the mean of the blocks of an octave
  double weight;                            ///< the share of the blocks
  std::array<double, measured_lives> lives; ///< shares of these blocks
};

struct measured_mix {
  std::string_view program;
  std::span<const measured_size> sizes;
  std::uint64_t allocations; ///< of the recorded work: a longer life was not seen
  double allocation_share;   ///< of its calls of malloc and free
};

} // namespace heaps
