// Marking: everything that can be reached from the roots, by one thread or several.
#pragma once

#include <cstddef>

#include "gc/base/page_list.hpp"
#include "gc/base/root.hpp"
#include "gc/space/space.hpp"
#include "gc/state/blocks.hpp"

namespace heapwise::gc {

/// Effects: makes ready for this many markers. Returns: whether there is memory for one at least.
[[nodiscard]] bool start_markers(std::size_t markers, std::size_t stack_bytes,
                                 bool interior) noexcept;

/// Effects: undoes start_markers. Requires: nothing was marked since.
void end_markers() noexcept;

/// Effects: starts those threads that help to mark and do not run yet, as far as the system allows.
/// Requires: a world that runs. Starting a thread takes locks of the C library, and a stopped
/// thread may hold them.
void start_helpers() noexcept;

/// Effects: marks what can be reached from the roots, which it uses up. Other markers help if it is
/// `worth_help`. Returns: whether the heap had to be looked through again, because there was no
/// room to write down all that was found. Requires: a world that stands still, no marks.
bool mark_from(page_list<root>& roots, const map& where, bool worth_help) noexcept;

/// Effects: what the marking function of the block names, apart from the block itself, is marked,
/// as far as it is not looked through; mark_from goes on from there. Requires: a world that stands
/// still; a block with a marking function; mark_from comes afterwards.
void mark_named_by(const found_block& block) noexcept;

/// Effects: between the two no helper holds the markers' lock, which a forked child would inherit.
/// Helpers wake late, without the collector's lock. Requires: the collector's lock.
void hold_helpers() noexcept;
void release_helpers() noexcept;

/// Effects: in a forked child, forgets the helpers: they do not run there. Requires: between
/// hold_helpers and release_helpers.
void forget_helpers() noexcept;

} // namespace heapwise::gc
