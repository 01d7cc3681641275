// How large the heap may become before the next collection, and what of it goes back to the system.
#pragma once

#include <cstddef>

#include "gc/collect/sweep.hpp"

namespace heapwise::gc {

/// To be allocated between two collections at least.
inline constexpr std::size_t least_budget = std::size_t{4} << 20;

/// Returns: what may be allocated between two collections, so that they cost about the same share
/// of the program's time whatever it holds: blocks that are looked through cost most of a
/// collection, of atomic blocks only the mark is set. The weights are those of Boehm's collector
/// (alloc.c, min_bytes_allocd). A block all of whose bytes are used takes 16 bytes more in Boehm's
/// collector, which adds a byte to each. With a divisor of 3 its heap is larger by 5/3 of that, so
/// ours could grow by 80 / 3 bytes more for such a block and not be larger. It grows by 64 / 3, and
/// for a block of two words by 16 / 3, because those are most of what a heap of trees or lists
/// holds, and there its memory matters more than its time.
[[nodiscard]] std::size_t budget_of(const live_sizes& live) noexcept;

/// Returns: the budget of what the copy has reached. The rest counts as live only because it was
/// handed out while the copy marked. Most of it is garbage, and takes memory once in any case.
[[nodiscard]] std::size_t budget_of_reached(const live_sizes& live,
                                            std::size_t reached_bytes) noexcept;

/// Effects: says how large the heap may become before the next collection. It may become larger
/// only if collections would come too often, because free blocks are of other kinds than those in
/// demand: each pays for itself by half of the budget, handed out since the one before.
/// Requires: the lock.
void set_target(std::size_t live_bytes, std::size_t budget, bool in_copy) noexcept;

/// Effects: the heap starts with its first target.
void set_first_target() noexcept;

/// Effects: gives a part of the memory back to the system that the heap does not keep after the
/// last collection. Returns: how many bytes are left of it. Requires: the lock.
std::size_t give_back_part() noexcept;

} // namespace heapwise::gc
