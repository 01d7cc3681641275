#include <heapwise/detail/stride.hpp>

#include <cstdint>
#include <random>

#include <doctest/doctest.h>

namespace {

using heapwise::detail::stride_divider;

constexpr std::uint64_t top = ~std::uint64_t{0};

/// Exact quotients come out; everything else is larger than any exact quotient can be.
bool agrees_with_division(std::uint64_t stride, std::uint64_t offset) {
  const std::uint64_t quotient = stride_divider{stride}.quotient(offset);
  return offset % stride == 0 ? quotient == offset / stride : quotient > top / stride;
}

/// The same question with the answer only, and with a bound.
bool bound_agrees_with_division(std::uint64_t stride, std::uint64_t offset, std::uint64_t blocks) {
  const stride_divider divider{stride};
  const bool wanted = offset % stride == 0 && offset / stride < blocks;
  return divider.is_block(offset, divider.bound_of(blocks)) == wanted;
}

static_assert(stride_divider{24}.quotient(240) == 10);
static_assert(stride_divider{24}.is_block(240, stride_divider{24}.bound_of(11)));
static_assert(!stride_divider{24}.is_block(240, stride_divider{24}.bound_of(10)));
static_assert(stride_divider{24}.quotient(241) > top / 24);

TEST_CASE("every small stride and offset") {
  for (std::uint64_t stride = 1; stride <= 300; ++stride) {
    for (std::uint64_t offset = 0; offset <= 3000; ++offset) {
      // A check of doctest would take longer than all else: there are a million.
      if (!agrees_with_division(stride, offset) || !bound_agrees_with_division(stride, offset, 0) ||
          !bound_agrees_with_division(stride, offset, 10) ||
          !bound_agrees_with_division(stride, offset, 1000)) {
        FAIL("stride ", stride, ", offset ", offset);
      }
    }
  }
}

TEST_CASE("small negative offsets, which are large numbers") {
  for (std::uint64_t stride = 1; stride <= 300; ++stride) {
    for (std::uint64_t below = 1; below <= 1000; ++below) {
      if (!agrees_with_division(stride, 0 - below) ||
          !bound_agrees_with_division(stride, 0 - below, 1000)) {
        FAIL("stride ", stride, ", offset -", below);
      }
    }
  }
}

TEST_CASE("random strides and offsets of any size") {
  std::mt19937_64 random{1};
  for (int i = 0; i < 200'000; ++i) {
    const std::uint64_t stride = (random() >> (random() % 64)) | 1u << (random() % 20);
    const std::uint64_t offset = random() >> (random() % 64);
    const std::uint64_t blocks = (random() >> (random() % 64)) % (top / stride);
    if (!agrees_with_division(stride, offset) ||
        !agrees_with_division(stride, offset / stride * stride) ||
        !bound_agrees_with_division(stride, offset, blocks) ||
        !bound_agrees_with_division(stride, offset / stride * stride, blocks) ||
        !bound_agrees_with_division(stride, blocks * stride, blocks) ||
        (blocks > 0 && !bound_agrees_with_division(stride, (blocks - 1) * stride, blocks))) {
      FAIL("stride ", stride, ", offset ", offset, ", blocks ", blocks);
    }
  }
}

} // namespace
