// What stands behind each block in debug mode: its size, who asked for it, and bytes that nobody
// may write.
#pragma once

#include <cstddef>

#include "gc/state/blocks.hpp"
#include "options/text.hpp"

namespace heapwise::gc {

/// Returns: how large a block has to be so that there is room for `size_bytes` and a guard.
[[nodiscard]] std::size_t with_guard(std::size_t size_bytes) noexcept;

/// Effects: puts a guard behind the first `size_bytes` of the block, with the address of the code
/// that asked for it.
void set_guard(const found_block& block, std::size_t size_bytes, const void* caller) noexcept;

/// Returns: how many bytes the program asked for; what a block of its size can have at most if the
/// guard is damaged.
[[nodiscard]] std::size_t asked_bytes(const found_block& block) noexcept;

/// Returns: how many bytes of the block the program may use.
[[nodiscard]] std::size_t usable_bytes(const found_block& block) noexcept;

/// Effects: says in the line where the block was allocated, if the guard still says so.
void add_caller(detail::text& line, const found_block& block) noexcept;

/// Effects: blocks in use whose guards are damaged are written down, each once; blocks without a
/// mark are in use no more, unless leaks are to be found. Requires: marks are complete, the world
/// stands still.
void look_at_guards() noexcept;

/// Effects: the program is told of the blocks that were written down. Requires: no lock.
void report_damage() noexcept;

/// Effects: the program is told if the guard of this block, which is being freed, is damaged.
/// Requires: no lock.
void report_if_damaged(const found_block& block) noexcept;

} // namespace heapwise::gc
