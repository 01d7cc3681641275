// Blocks on their way back to their spans, gathered into runs before any lock is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "heap/space/span.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

/// Neighbours in a span whose bits share a word of its map, and that follow each other in a batch
/// too: a program often frees them one after the other.
struct block_run {
  detail::span* home; // nullptr if no block of the class can start there
  std::uint64_t bits; // of the word
  std::uint32_t word;
  std::uint16_t begin; // where they are in the batch
  std::uint16_t count;
};

/// Effects: gathers the blocks into runs, and lets the processor fetch what is known of them: it is
/// scattered. Returns: how many runs there are. Requires: room for as many runs as blocks.
[[nodiscard]] std::size_t gather(std::span<std::byte* const> blocks, size_class class_index,
                                 block_run* runs) noexcept;

} // namespace heapwise::detail
