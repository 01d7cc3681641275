// Which pages the system takes for memory: huge ones, or those of one NUMA node. Keeps errno.
#pragma once

#include <cstddef>

namespace heapwise::os {

/// Returns: the size of a transparent huge page in bytes: what one entry of the second level of
/// page tables covers.
[[nodiscard]] std::size_t huge_page_bytes() noexcept;

/// Effects: asks the system to use huge pages for these pages, as soon as they are touched.
/// Returns: whether the system knows them.
bool prefer_huge_pages(void* memory, std::size_t size_bytes) noexcept;

/// Effects: these pages become huge ones at once, with what is in them; whole huge pages. Takes
/// some tenths of a millisecond for each. Returns: whether they are; older systems do not know it.
bool collapse_pages(void* memory, std::size_t size_bytes) noexcept;

/// Effects: what is touched from now on is in small pages, and what is free in huge ones is not
/// filled up. Huge pages that are there stay. Returns: whether the system knows them.
bool avoid_huge_pages(void* memory, std::size_t size_bytes) noexcept;

/// Effects: pages that are touched first from now on are of this node.
/// Returns: whether the system agreed; if not, nothing changed.
[[nodiscard]] bool bind_to_node(void* memory, std::size_t size_bytes, unsigned node) noexcept;

/// Returns: the node of the processor that runs the calling thread; 0 if the system does not tell.
[[nodiscard]] unsigned current_node() noexcept;

} // namespace heapwise::os
