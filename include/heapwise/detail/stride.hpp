// Which block of a row of blocks does an address belong to, without a division?
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace heapwise::detail::inline v0_2 {

/// Exact division by a fixed stride: multiply by the inverse of its odd part modulo 2^64, rotate
/// by its power of two. An offset that is not a multiple of the stride comes out as a number larger
/// than any quotient, so one comparison proves both "in range" and "on a block's first byte".
/// Source: Granlund and Montgomery, "Division by invariant integers using multiplication", 1994,
/// section 9 (exact division and the test for divisibility).
class stride_divider {
 public:
  /// Requires: stride != 0.
  explicit constexpr stride_divider(std::uint64_t stride) noexcept
      : low_bits_{(stride & (~stride + 1)) - 1}, shift_{std::countr_zero(stride)} {
    const std::uint64_t odd = stride >> shift_;
    std::uint64_t inverse = odd;                              // right in the 3 lowest bits
    for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse; // each step doubles the right bits
    inverse_ = inverse;
  }

  /// Returns: offset / stride if that is exact, else a number above 2^64 / stride - 1.
  [[nodiscard]] constexpr std::uint64_t quotient(std::uint64_t offset) const noexcept {
    // Not std::rotr: libraries differ in the type of its second parameter.
    const std::uint64_t product = offset * inverse_;
    return product >> shift_ | product << (-shift_ & 63);
  }

  /// Returns: offset % stride == 0 && offset / stride < blocks, where `bound` is bound_of(blocks).
  /// The rotation would cost more than the rest: the product of an exact multiple is its quotient,
  /// still shifted, over the zero bits that the offset had itself.
  [[nodiscard]] constexpr bool is_block(std::uint64_t offset, std::uint64_t bound) const noexcept {
    const std::uint64_t product = offset * inverse_;
    return product < bound && (product & low_bits_) == 0;
  }

  /// Requires: blocks * stride < 2^64.
  [[nodiscard]] constexpr std::uint64_t bound_of(std::uint64_t blocks) const noexcept {
    return blocks << shift_;
  }

 private:
  std::uint64_t inverse_ = 0;
  std::uint64_t low_bits_;
  int shift_;
};

} // namespace heapwise::detail::inline v0_2
