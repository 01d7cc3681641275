// Large blocks: whole slices, made and freed.
#pragma once

#include <cstddef>

#include "heap/space/space.hpp"
#include "heap/space/span.hpp"
#include "heapwise/detail/size_classes.hpp"

namespace heapwise::detail {

// A block that grows to this size gets slices of its own, in which it can grow at its place. If it
// shrinks to less, it is a block among others again.
inline constexpr std::size_t worth_growing_bytes = std::size_t{2} << 10;

/// Room of fewer slices keeps its old pages: the block is about to grow into them.
inline constexpr std::size_t worth_purging_slices = 16;

constexpr std::size_t slices_of(std::size_t bytes) noexcept {
  return (bytes + slice_bytes - 1) / slice_bytes;
}

/// Returns: whether no heap could hold a block of this size.
[[nodiscard]] bool too_large(std::size_t size_bytes) noexcept;

/// Returns: a large block with `room_slices` behind it that are its own but untouched, or nullptr.
/// `free_behind`: as for space::take.
[[nodiscard]] span* make_large(std::size_t size_bytes, std::size_t alignment,
                               std::size_t room_slices, bool zeroed,
                               std::size_t free_behind = 0) noexcept;

/// Returns: a block of slices of its own for a small block that grows, or nullptr.
[[nodiscard]] span* make_growing(std::size_t size_bytes) noexcept;

/// Effects: writes down how many bytes the block may use now. Requires: no page behind it is
/// hidden, or the same one follows them (large_guard.hpp).
void set_bytes(span& block, std::size_t bytes) noexcept;

/// Effects: a block of make_large is a span of the caller's, and does not count among large blocks.
/// Requires: nobody else knows of it.
void hand_over(span& block) noexcept;

/// Effects: frees the block. `clean`: its pages are gone already.
void release_large(span& block, bool clean) noexcept;

/// Effects: the block is gone, and its slices stay out of use.
/// Requires: the place of the block must not be used any more.
void retire_large(span& block) noexcept;

/// Returns: the large block whose slices hold the address, in use or held back, or nullptr. Safe in
/// a handler of a signal. Complexity: linear in the slices before it; they do not know whose they
/// are. Requires: the_space.holds(address).
[[nodiscard]] const span* large_block_around(const void* address) noexcept;

struct large_figures {
  std::size_t blocks = 0;
  std::size_t bytes = 0;
};
[[nodiscard]] large_figures count_large() noexcept;

} // namespace heapwise::detail
