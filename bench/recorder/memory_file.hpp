// The memory of the drain as a file: where this process finds it, and how it maps a part of it.
#pragma once

#include <cstddef>

namespace heapwise::bench {

/// What is mapped, and where it begins in the file.
struct mapped_part {
  void* mapping;
  std::size_t begin;
};

/// Opens the file by its path or, if that is refused, by the inherited descriptor that `handed`
/// describes. Remembers both for map_behind(). Null stands for none.
/// Returns a new descriptor, or -1.
[[nodiscard]] int open_memory(const char* path, const char* handed) noexcept;

/// Whether this process has mapped the file before: an emulator and the program inside it are one
/// process, and each has a recorder.
[[nodiscard]] bool is_mapped_here(int file) noexcept;

/// Maps `bytes` of the file at `offset` behind the begin of `known`. Needs no file: the kernel maps
/// from there on (mremap(2), size 0), and what lies before the offset goes at once. If that fails,
/// as under a filter of system calls, the part is mapped by its descriptor or its path.
/// Returns null if there is no room, or no way.
[[nodiscard]] void* map_behind(mapped_part known, std::size_t offset, std::size_t bytes) noexcept;

} // namespace heapwise::bench
