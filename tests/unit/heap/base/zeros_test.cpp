#include "heap/base/zeros.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::detail::zeros::clear_short;
using heapwise::detail::zeros::is_zero;
using heapwise::detail::zeros::short_bytes;

constexpr std::array<std::size_t, 15> sizes_of_blocks{16,  32,  48,  64,  80,  96,  112, 128,
                                                      144, 160, 192, 256, 272, 512, 4096};
constexpr std::byte not_zero{1};

TEST_CASE("a block with one byte that is not zero, wherever it is, is not zero") {
  for (const std::size_t bytes : sizes_of_blocks) {
    CAPTURE(bytes);
    std::vector<std::byte> block(bytes + 2 * 16, not_zero); // and neighbours on both sides
    std::byte* const begin = block.data() + 16;
    std::fill_n(begin, bytes, std::byte{0});
    CHECK(is_zero(begin, bytes));
    for (std::size_t at = 0; at < bytes; ++at) {
      CAPTURE(at);
      begin[at] = not_zero;
      CHECK_FALSE(is_zero(begin, bytes));
      begin[at] = std::byte{0};
    }
  }
}

TEST_CASE("a short block is cleared, and nothing beside it") {
  for (const std::size_t bytes : sizes_of_blocks) {
    if (bytes > short_bytes) continue;
    CAPTURE(bytes);
    std::vector<std::byte> block(bytes + 2 * 16, not_zero);
    clear_short(block.data() + 16, bytes);
    CHECK(is_zero(block.data() + 16, bytes));
    CHECK(std::count(block.begin(), block.end(), not_zero) == 2 * 16);
  }
}

} // namespace
