// What is at an address.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "gc/space/space.hpp"
#include "gc/state/layouts.hpp"

namespace heapwise::gc {

struct found_block {
  std::byte* begin = nullptr; // nullptr: there is none
  std::size_t bytes = 0;      // without the address of a layout, which lies behind them
  slice_index slice = no_slice;
  std::uint32_t number = 0; // in its slice
  bool atomic = false;
};

/// Returns: the block that holds the byte, which may be a free one.
[[nodiscard]] found_block block_around(const void* address) noexcept;

/// Returns: whether a block begins there. False for nullptr.
[[nodiscard]] bool is_block(const void* address) noexcept;

/// Returns: the layout of the block; nullptr if it has none, or has not got it yet.
[[nodiscard]] const layout* layout_of(const found_block& block) noexcept;

/// Returns: the block that begins there. Ends the process if none does, with the name of the
/// function that was `called`.
[[nodiscard]] found_block block_at(const void* begin, std::string_view called) noexcept;

/// Returns: whether this collection, or the last one, has marked the block. Requires: one begins
/// there.
[[nodiscard]] bool is_marked(const void* block) noexcept;
void set_mark(const void* block) noexcept;

/// Effects: marks the block as handed out. Requires: one begins there.
void note_handed_out(const void* block) noexcept;

} // namespace heapwise::gc
