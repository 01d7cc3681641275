// Distances between the sampled bytes of a thread.
#pragma once

#include <cstdint>

#include "heapwise/detail/heap_sampling.hpp"

namespace heapwise::bench {

using detail::gap_of;
using detail::negative_log2;

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

} // namespace heapwise::bench
