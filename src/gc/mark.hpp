// Marking: everything that can be reached from the roots, by one thread or several.
#pragma once

#include <cstddef>

#include "gc/page_list.hpp"
#include "gc/space.hpp"
#include "os/world.hpp"

namespace heapwise::gc {

/// Words to be looked through. On stacks, an address inside of a block counts as well.
struct root {
  os::memory_range range;
  bool interior;
};

/// Effects: makes ready for so many markers. Returns: whether there is memory for one at least.
[[nodiscard]] bool start_markers(std::size_t markers, std::size_t stack_bytes,
                                 bool interior) noexcept;

/// Effects: undoes start_markers. Requires: nothing was marked since.
void end_markers() noexcept;

/// Effects: marks what can be reached from the roots, which it uses up. Other markers help if it is
/// `worth_help`. Returns: whether the heap had to be looked through again, because there was no
/// room to write down all that was found. Requires: a world that stands still, no marks.
bool mark_from(page_list<root>& roots, const map& where, bool worth_help) noexcept;

/// Effects: in a forked child, where no marker is left to help.
void forget_markers() noexcept;

} // namespace heapwise::gc
