#include "heap/block_states.hpp"

#include <cstddef>
#include <vector>

#include <doctest/doctest.h>

namespace {

using heapwise::detail::block_states::is_zero;

TEST_CASE("a block with one byte that is not zero, wherever it is, is not zero") {
  for (const std::size_t bytes : {8U, 16U, 48U, 64U, 256U, 264U, 272U, 320U, 512U, 4096U}) {
    CAPTURE(bytes);
    std::vector<std::byte> block(bytes + 1);
    block.back() = std::byte{1}; // behind it
    CHECK(is_zero(block.data(), bytes));
    for (std::size_t at = 0; at < bytes; ++at) {
      CAPTURE(at);
      block[at] = std::byte{1};
      CHECK_FALSE(is_zero(block.data(), bytes));
      block[at] = std::byte{0};
    }
  }
}

} // namespace
