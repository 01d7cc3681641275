// Large blocks that go to another place take their pages with them, and what that leaves behind in
// the system's description of the addresses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "heap/space/span.hpp"

namespace heapwise::detail {

/// Where the contents of a block are, and what is left of the two places.
enum class relocated : std::uint8_t {
  moved,       ///< at the target; the source reads as zero
  copied,      ///< at the target; the source may be used again, its contents are not defined
  source_lost, ///< at the target; the source must not be used any more
  target_lost, ///< at the source; the target must not be used any more
};

/// Effects: brings the contents of a block to another place by moving its pages, and copies what
/// the system refuses to move. Each piece that was moved stays a mapping of its own, counted in
/// `target.pieces`, until `mend`.
/// Requires: both lie in addresses that the system leaves alone; the target is as long or longer.
/// Complexity: linear in the page tables; linear in the bytes that are copied.
[[nodiscard]] relocated relocate(span& source_span, std::byte* source, span& target_span,
                                 std::byte* target) noexcept;

/// In a child of fork, what was mapped before the fork stays a mapping of its own.
enum class mended : std::uint8_t {
  fresh,  ///< the place reads as zero, and is one mapping with what is around it
  as_was, ///< the system refused; the place may be used, its contents are not defined
  lost,   ///< the place must not be used any more
};

/// Effects: maps again a place to which pages were moved.
[[nodiscard]] mended mend(std::byte* begin, std::size_t bytes) noexcept;

/// Effects: takes the pieces of a span out of the count.
/// Requires: all of the span's place was mapped again, or must not be used any more.
void forget_pieces(span& record) noexcept;

/// Returns: how many mappings there are that are pieces.
[[nodiscard]] std::size_t count_pieces() noexcept;

} // namespace heapwise::detail
