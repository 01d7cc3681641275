// Places for what would otherwise begin at the same place of every page.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heapwise::detail::inline v0_2 {

/// Data at one place of many pages shares a few sets of the nearest cache, so that a dozen of such
/// pieces push each other out. Memory that is given different places does not.
///
/// Requires: places != 0. Returns: a number below `places` that depends only on the page of
/// `address`; neighbouring pages get numbers that are far from each other.
/// Source: Knuth, The Art of Computer Programming, volume 3, section 6.4 (multiplicative hashing).
[[nodiscard]] inline std::size_t spread(const void* address, std::size_t places) noexcept {
  constexpr std::uint64_t golden_ratio = 0x9E37'79B9'7F4A'7C15; // its fraction, times 2^64
  const std::uint64_t page = reinterpret_cast<std::uintptr_t>(address) >> 12;
  return ((page * golden_ratio) >> 32) * places >> 32;
}

} // namespace heapwise::detail::inline v0_2
