// Which pages the system takes for the heap's slices, huge or small ones, and how the heap gives
// them back (docs/design/heap.md#huge-pages).
//
// Where the system has huge pages, a thread of its own (khugepaged) makes a huge page whole again
// if a single one of its small pages is in use. So what the heap gives back of a huge page would
// come back by itself. Before the heap gives back less than whole huge pages for the first time, it
// tells the system to leave all of its slices in small pages.
#pragma once

#include <cstddef>

namespace heapwise::detail {

/// Effects: memory of slices that was mapped just now gets the pages that the option HUGE_PAGES
/// asks for, or small ones if the heap has left the huge ones. Memory that was advised differently
/// is two mappings to the system, so all slices are advised alike. The system may refuse: nothing
/// depends on it. Requires: nobody else uses the memory.
void choose_pages(std::byte* begin, std::size_t bytes) noexcept;

/// Effects: as os::purge, for memory of slices. Before less than whole huge pages go back for the
/// first time, the heap leaves the huge ones, unless the option says `always`. Thread safety: all.
/// The lock of the space must not be held.
bool purge_slices(void* memory, std::size_t bytes) noexcept;

} // namespace heapwise::detail
