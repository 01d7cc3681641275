// Numbers counted as HdrHistogram does: a quantile is at most 1/64 too large.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heapwise::bench {

/// 0 for 0, else the k with 2^(k-1) <= number < 2^k, of the number as a double.
[[nodiscard]] inline unsigned power_bucket(std::uint64_t number) noexcept {
  constexpr int exact_bits = 53;
  if (number >> exact_bits == 0) return static_cast<unsigned>(std::bit_width(number));
  int exponent = 0;
  static_cast<void>(std::frexp(static_cast<double>(number), &exponent));
  return static_cast<unsigned>(exponent);
}
inline constexpr unsigned bucket_count = 65;

/// Counts numbers, each with a weight. python/heapwise/trace/spread.py has the same places.
class spread {
 public:
  struct place {
    std::uint64_t count = 0;
    std::uint64_t weight = 0;
    std::uint64_t largest = 0;
  };

  void add(std::uint64_t number, unsigned bucket, std::uint64_t weight) noexcept {
    const unsigned shift = bucket > step_bits + 1 ? bucket - step_bits - 1 : 0;
    const auto at = static_cast<std::size_t>((number >> shift) + shift * steps);
    place& slot = places_[std::min(at, places_.size() - 1)];
    ++slot.count;
    slot.weight += weight;
    slot.largest = std::max(slot.largest, number);
  }

  [[nodiscard]] const std::vector<place>& places() const noexcept { return places_; }

 private:
  static constexpr unsigned step_bits = 6;
  static constexpr unsigned steps = 1U << step_bits;
  std::vector<place> places_ = std::vector<place>(std::size_t{steps} * (64 - step_bits + 1));
};

} // namespace heapwise::bench
