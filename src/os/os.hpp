// What the library needs of an operating system: the only system calls. One file per system.
#pragma once

#include <cstddef>

namespace heapwise::os {

/// Returns: the size of a page in bytes, a power of two, the same at every call.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Returns: fresh zeroed pages that take no physical memory until they are touched, aligned to
/// `alignment` (a power of two), or nullptr.
/// Requires: size_bytes > 0, a multiple of the page size.
[[nodiscard]] void* map(std::size_t size_bytes, std::size_t alignment) noexcept;

/// Effects: gives pages back. Requires: what `map` returned, whole.
void unmap(void* memory, std::size_t size_bytes) noexcept;

/// Effects: writes to standard error, all or as much as can be. Allocates nothing, keeps errno.
void write_error(const char* text, std::size_t length) noexcept;

/// Returns: a number that other processes cannot guess easily.
[[nodiscard]] unsigned long long random_word() noexcept;

} // namespace heapwise::os
