// The strategy and the size class of a request: the research allocator's table of sizes.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>

namespace heapwise {

/// The strategy that serves a request. If a strategy cannot serve a size, the next one does:
/// `segregated` serves sizes above 256 bytes for `fixed`, and `best_fit` serves sizes above 4096
/// bytes for `segregated`. `automatic` chooses as `fixed` does.
enum class strategy : unsigned char { automatic, fixed, segregated, best_fit };

} // namespace heapwise

namespace heapwise::detail::hybrids::routing {

/// Slabs of three sizes, then segregated lists of eight sizes. A slab and a list of the same size
/// are two classes, and each has its own blocks.
inline constexpr std::array<std::size_t, 11> block_bytes = {32,  128, 256,  32,   64,  128,
                                                            256, 512, 1024, 2048, 4096};
inline constexpr std::size_t slab_count = 3;
inline constexpr std::size_t class_count = block_bytes.size();
/// The "class" of a request that is served by no class.
inline constexpr std::size_t best_fit = class_count;
/// The "class" of an address that is not a block.
inline constexpr std::size_t none = class_count + 1;

inline constexpr std::size_t largest_slab_bytes = 256;
inline constexpr std::size_t smallest_list_bytes = 32;
inline constexpr std::size_t largest_list_bytes = 4096;

/// Returns: the class for a request, or `best_fit`. Blocks of a class are aligned to their size. So
/// a block must be at least as large as the requested alignment.
/// Requires: alignment is a power of two.
[[nodiscard]] constexpr std::size_t class_of(std::size_t size, std::size_t alignment,
                                             strategy how) noexcept {
  const std::size_t needed = std::max(size, alignment);
  if (how == strategy::best_fit || needed > largest_list_bytes) return best_fit;
  if (how != strategy::segregated && needed <= largest_slab_bytes) {
    return needed <= block_bytes[0] ? 0 : needed <= block_bytes[1] ? 1 : 2;
  }
  const std::size_t rounded = std::bit_ceil(std::max(needed, smallest_list_bytes));
  return slab_count + static_cast<std::size_t>(std::countr_zero(rounded / smallest_list_bytes));
}

/// Returns: the strategy that serves a class: 0 fixed, 1 segregated, 2 best_fit.
[[nodiscard]] constexpr std::size_t server_of(std::size_t class_index) noexcept {
  return class_index < slab_count ? 0 : class_index < class_count ? 1 : 2;
}

static_assert(class_of(1, 1, strategy::automatic) == 0);
static_assert(class_of(33, 1, strategy::automatic) == 1);
static_assert(class_of(257, 1, strategy::automatic) == slab_count + 4);
static_assert(class_of(4096, 1, strategy::automatic) == class_count - 1);
static_assert(class_of(4097, 1, strategy::automatic) == best_fit);

} // namespace heapwise::detail::hybrids::routing
