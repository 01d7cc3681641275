// Addresses at equal distances in an array, two at a time: a vector of two is what every processor
// has that the heap is built for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "heapwise/detail/config.hpp"

namespace heapwise::detail {

/// Two addresses, in one register.
class address_pair {
 public:
  address_pair(std::uintptr_t lower, std::uintptr_t upper) noexcept : both_{lower, upper} {}

  // An array of addresses is aligned for one of them, so its pairs are copied as bytes.
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE static address_pair load(const void* at) noexcept {
    address_pair loaded{0, 0};
    std::memcpy(&loaded.both_, at, sizeof loaded.both_);
    return loaded;
  }
  HEAPWISE_ALWAYS_INLINE void store(void* at) const noexcept {
    std::memcpy(at, &both_, sizeof both_);
  }

  HEAPWISE_ALWAYS_INLINE void advance(std::uintptr_t distance) noexcept { both_ += distance; }
  /// Effects: adds the bits in which the others differ.
  HEAPWISE_ALWAYS_INLINE void add_difference(address_pair one, address_pair other) noexcept {
    both_ |= one.both_ ^ other.both_;
  }
  [[nodiscard]] HEAPWISE_ALWAYS_INLINE bool is_zero() const noexcept {
    return (both_[0] | both_[1]) == 0;
  }

 private:
  using two __attribute__((vector_size(2 * sizeof(std::uintptr_t)))) = std::uintptr_t;
  two both_;
};

/// Effects: writes `count` addresses below `end`: the first one nearest to it, and each other one
/// `distance` bytes higher and a place lower.
HEAPWISE_ALWAYS_INLINE void write_run(std::byte** end, std::byte* first, std::size_t count,
                                      std::size_t distance) noexcept {
  auto next = reinterpret_cast<std::uintptr_t>(first);
  if (count % 2 != 0) {
    *--end = first;
    next += distance;
  }
  address_pair both{next + distance, next};
  for (std::byte** const begin = end - count / 2 * 2; end != begin;) {
    end -= 2;
    both.store(end);
    both.advance(2 * distance);
  }
}

/// Returns: how many addresses, the first one and at most `most`, follow each other at a distance.
HEAPWISE_ALWAYS_INLINE std::size_t count_in_run(std::byte* const* first, std::size_t most,
                                                std::ptrdiff_t distance) noexcept {
  constexpr std::size_t at_once = 8;
  const auto step = static_cast<std::uintptr_t>(distance);
  const auto address = reinterpret_cast<std::uintptr_t>(*first);
  std::byte* const* at = first;
  std::byte* const* const end = first + most;
  address_pair expected{address, address + step};
  while (static_cast<std::size_t>(end - at) >= at_once) {
    address_pair difference{0, 0};
#pragma GCC unroll 4
    for (std::size_t i = 0; i < at_once; i += 2) {
      difference.add_difference(address_pair::load(at + i), expected);
      expected.advance(2 * step);
    }
    if (!difference.is_zero()) break;
    at += at_once;
  }
  std::uintptr_t next = address + static_cast<std::uintptr_t>(at - first) * step;
  while (at != end && reinterpret_cast<std::uintptr_t>(*at) == next) {
    next += step;
    ++at;
  }
  return static_cast<std::size_t>(at - first);
}

} // namespace heapwise::detail
