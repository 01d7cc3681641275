// What is rare: large blocks, odd alignments, blocks that change their size, addresses in doubt.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Returns: a block of more than max_small_bytes, or aligned to more than that, or nullptr.
/// Effects: with `zeroed` its bytes are zero.
/// Requires: `alignment` is a power of two.
[[nodiscard]] void* allocate_large(std::size_t size_bytes, std::size_t alignment,
                                   bool zeroed) noexcept;

/// Effects: frees a block that is not a small block of all threads; reports another address.
void release_uncommon(void* block) noexcept;

/// Returns: the bytes that a block may use; 0 and a report for another address.
[[nodiscard]] std::size_t usable_bytes(const void* block) noexcept;

/// Effects: makes a block larger that can grow where it is. Returns: the bytes that it may use
/// then; 0 and a report for another address. Requires: an address that is not null.
[[nodiscard]] std::size_t grow_in_place(void* block, std::size_t size_bytes) noexcept;

/// Returns: the block with a new size, at its place or another; nullptr without memory, and then
/// the block is as it was. Requires: a block, a size above 0.
[[nodiscard]] void* resize(void* block, std::size_t size_bytes) noexcept;

} // namespace heapwise::detail
