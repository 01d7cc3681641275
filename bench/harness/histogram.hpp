// A histogram of durations with bounded relative error, in memory that is all there from the start.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwise::bench {

/// Log-linear buckets: exact below 2^precision_bits, above that each power of two is cut into
/// 2^(precision_bits - 1) equal buckets, so that a bucket is at most 2^-(precision_bits - 1) of its
/// values wide. Any 64-bit value fits. Recording never allocates.
template <unsigned precision_bits = 8>
class histogram {
 public:
  static constexpr double relative_error = 1.0 / (1U << (precision_bits - 1));

  void record(std::uint64_t value) noexcept {
    ++counts_[bucket_of(value)];
    ++count_;
    if (value > max_) max_ = value;
  }

  void merge(const histogram& other) noexcept {
    for (std::size_t i = 0; i < buckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    if (other.max_ > max_) max_ = other.max_;
  }

  void clear() noexcept { *this = histogram{}; }

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  [[nodiscard]] std::uint64_t max() const noexcept { return max_; }

  /// The least value that at least `quantile` of all recorded values do not exceed (nearest rank),
  /// to the bucket's upper edge and never above the maximum; 0 if nothing was recorded.
  [[nodiscard]] std::uint64_t at(double quantile) const noexcept {
    if (count_ == 0) return 0;
    const double exact = quantile * static_cast<double>(count_);
    auto rank = static_cast<std::uint64_t>(exact);
    if (static_cast<double>(rank) < exact || rank == 0) ++rank;
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < buckets; ++i) {
      seen += counts_[i];
      if (seen >= rank) return upper_edge(i) < max_ ? upper_edge(i) : max_;
    }
    return max_;
  }

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    if (width <= precision_bits) return static_cast<std::size_t>(value);
    const unsigned shift = width - precision_bits;
    return (std::size_t{shift} << (precision_bits - 1)) + static_cast<std::size_t>(value >> shift);
  }

  /// The largest value that falls into the bucket.
  [[nodiscard]] static constexpr std::uint64_t upper_edge(std::size_t bucket) noexcept {
    if (bucket < (std::size_t{1} << precision_bits)) return bucket;
    const std::size_t shift = (bucket >> (precision_bits - 1)) - 1;
    const std::uint64_t lead = bucket - (shift << (precision_bits - 1));
    return ((lead + 1) << shift) - 1;
  }

 private:
  static constexpr std::size_t buckets =
      (std::size_t{64 - precision_bits} << (precision_bits - 1)) +
      (std::size_t{1} << precision_bits);

  std::uint64_t counts_[buckets] = {};
  std::uint64_t count_ = 0;
  std::uint64_t max_ = 0;
};

} // namespace heapwise::bench
