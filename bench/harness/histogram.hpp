// A histogram of durations with bounded relative error, in memory that is all there from the start.
#pragma once

#include <algorithm>
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

  void record(std::uint64_t figure) noexcept {
    ++counts_[bucket_of(figure)];
    ++count_;
    if (figure > max_) max_ = figure;
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

  /// The quantile of grouped data: for a clock that goes on by `step`, whose readings are that much
  /// coarser than what they measure. What was recorded in the quantile's bucket is taken as spread
  /// evenly over the width of a step (or of the bucket, if wider) around it. Never above the
  /// maximum; 0 if nothing was recorded.
  [[nodiscard]] double spread_at(double quantile, std::uint64_t step) const noexcept {
    if (count_ == 0) return 0;
    const std::size_t bucket = bucket_of(at(quantile));
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < bucket; ++i) below += counts_[i];
    const std::uint64_t lower_edge = bucket == 0 ? 0 : upper_edge(bucket - 1) + 1;
    const auto bucket_width = static_cast<double>(upper_edge(bucket) - lower_edge + 1);
    const double width = std::max(static_cast<double>(step), bucket_width);
    const double middle = static_cast<double>(lower_edge) + (bucket_width - 1) / 2;
    const double into = (quantile * static_cast<double>(count_) - static_cast<double>(below)) /
                        static_cast<double>(counts_[bucket]);
    return std::clamp(middle + width * (into - 0.5), 0.0, static_cast<double>(max_));
  }

  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t figure) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(figure));
    if (width <= precision_bits) return static_cast<std::size_t>(figure);
    const unsigned shift = width - precision_bits;
    return (std::size_t{shift} << (precision_bits - 1)) + static_cast<std::size_t>(figure >> shift);
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
